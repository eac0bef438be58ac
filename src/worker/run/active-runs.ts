// The runs that have started and not come to an outcome, in no order.

import type { HoldfastError } from '../../domain/error/errors.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { Run } from './runner.js'

/**
 * An array, though runs come and go by the ten thousand: a Map that they go through leaves outgrown tables behind, each of
 * which keeps the next alive with all that it held, until the next full collection. Nearly every run would outlive its job.
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

  /** The last run takes the place that becomes free. */
  remove(job: ClaimedJob): void {
    const place = this.#placeOf(job)
    if (place === -1) return
    if (this.#waiting.length > 0) this.#tell(this.#runs[place] as Run)
    const last = this.#runs.pop() as Run
    if (place < this.#runs.length) this.#runs[place] = last
  }

  abort(reason: HoldfastError): void {
    for (const run of this.#runs) run.abort(reason)
  }

  /** Resolves when all that are here now have been removed. */
  ended(): Promise<void> {
    if (this.#runs.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ left: new Set(this.#runs), resolve }))
  }

  #tell(removed: Run): void {
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
