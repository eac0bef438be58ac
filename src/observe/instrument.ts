// The seam for whoever looks on from outside, such as a tracer: it stands around each enqueue and each run.

import type { ClaimedJob, JobId } from '../domain/job/job.js'
import type { Outcome } from '../domain/job/outcome.js'

export interface EnqueueFact {
  readonly type: string
  readonly queue: string
  readonly jobs: number
}

export interface Instrument {
  /** Calls `send` once, with the W3C traceparent that is to travel with the jobs, and gives what it gives. */
  enqueue(fact: EnqueueFact, send: (trace: string | undefined) => Promise<JobId[]>): Promise<JobId[]>
  /** Calls `start` once, where the handler is to run, and gives what the run comes to. `job.trace` is what travelled. */
  run(job: ClaimedJob, start: () => Promise<Outcome>): Promise<Outcome>
}
