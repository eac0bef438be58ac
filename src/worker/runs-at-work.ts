// The runs that have started and not come to an outcome, in no order.

import type { HoldfastError } from '../domain/errors.js'
import type { ClaimedJob } from '../domain/job.js'
import type { Run } from './runner.js'

/**
 * An array, though runs come and go by the ten thousand: a Map that they go through leaves outgrown tables behind, each of
 * which keeps the next alive with all that it held, until the next full collection. Nearly every run would outlive its job.
 */
export class RunsAtWork {
  readonly #runs: Run[] = []

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
    const last = this.#runs.pop() as Run
    if (place < this.#runs.length) this.#runs[place] = last
  }

  abort(reason: HoldfastError): void {
    for (const run of this.#runs) run.abort(reason)
  }

  /** Resolves when all that run now have come to an outcome. */
  async ended(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.outcome))
  }

  #placeOf(job: ClaimedJob): number {
    for (let place = 0; place < this.#runs.length; place += 1) if (this.#runs[place]?.job === job) return place
    return -1
  }
}
