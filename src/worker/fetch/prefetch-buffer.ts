// The jobs that a lane has claimed and not started, in claim order.

import type { ClaimedJob } from '../../domain/job/job.js'

/** An array and a place in it: to move thousands up for each that is taken would cost as much as to start it. */
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

  /** The next one; there must be one. What has been taken is not kept alive. */
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
