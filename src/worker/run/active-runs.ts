// The runs that have started and not ended, in no order.

import type { HoldfastError } from '../../domain/error/errors.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import { Shutdown } from '../../domain/run/abort-reasons.js'
import type { Run } from './runner.js'

// How long stop() waits for runs that it told to stop.
const ABORT_MS = 2000

/**
 * An array, not a Map: a Map that grows and shrinks by ten thousands leaves outgrown tables behind, and each keeps the next alive
 * with its runs until the next full garbage collection.
 */
export class ActiveRuns {
  readonly #runs: Run[] = []
  #waiting: { readonly left: Set<Run>; readonly resolve: () => void }[] = []

  get size(): number {
    return this.#runs.length
  }

  get jobs(): ClaimedJob[] {
    return this.#runs.map((run) => run.job)
  }

  add(run: Run): void {
    this.#runs.push(run)
  }

  of(job: ClaimedJob): Run | undefined {
    return this.#runs[this.#placeOf(job)]
  }

  /** The last run moves to the place that becomes free. */
  remove(job: ClaimedJob): void {
    const place = this.#placeOf(job)
    if (place === -1) return
    if (this.#waiting.length > 0) this.#removed(this.#runs[place] as Run)
    const last = this.#runs.pop() as Run
    if (place < this.#runs.length) this.#runs[place] = last
  }

  abort(reason: HoldfastError): void {
    for (const run of this.#runs) run.abort(reason)
  }

  /** Lets runs end within the grace, then tells the others to stop and waits for them briefly. */
  async stop(graceMs: number): Promise<void> {
    if (await this.endWithin(graceMs)) return
    this.abort(new Shutdown('the worker is stopping'))
    await this.endWithin(ABORT_MS)
  }

  /** false when some that run now have not ended after `ms`. */
  async endWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const isLate = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, ms, true)
    })
    const hasEnded = !(await Promise.race([this.ended(), isLate]))
    clearTimeout(timer)
    return hasEnded
  }

  /** Resolves when all runs of this moment have been removed. */
  ended(): Promise<void> {
    if (this.#runs.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ left: new Set(this.#runs), resolve }))
  }

  #removed(removed: Run): void {
    this.#waiting = this.#waiting.filter(({ left, resolve }) => {
      left.delete(removed)
      if (left.size === 0) resolve()
      return left.size > 0
    })
  }

  #placeOf(job: ClaimedJob): number {
    for (let place = 0; place < this.#runs.length; place += 1) if (this.#runs[place]?.job === job) return place
    return -1
  }
}
