// The claimed jobs of a queue that wait for a slot, in claim order.

import type { ClaimedJob } from '../../domain/job/job.js'

/** An array with an index into it: shifting thousands of elements for each job would cost as much as starting it. */
export class PrefetchBuffer {
  #jobs: (ClaimedJob | undefined)[] = []
  #next = 0

  get size(): number {
    return this.#jobs.length - this.#next
  }

  add(jobs: readonly ClaimedJob[]): void {
    this.#jobs = this.size === 0 ? [...jobs] : [...this.#jobs.slice(this.#next), ...jobs]
    this.#next = 0
  }

  /** The next job; there must be one. The buffer does not keep it alive. */
  take(): ClaimedJob {
    const job = this.#jobs[this.#next] as ClaimedJob
    this.#jobs[this.#next] = undefined
    this.#next += 1
    return job
  }

  takeAll(): ClaimedJob[] {
    const jobs = this.#jobs.slice(this.#next) as ClaimedJob[]
    this.#jobs = []
    this.#next = 0
    return jobs
  }
}
