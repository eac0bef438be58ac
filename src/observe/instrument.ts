// What a tracer implements: it wraps each enqueue and each run.

import type { ClaimedJob, JobId } from '../domain/job/job.js'
import type { Outcome } from '../domain/run/outcome.js'

export interface EnqueueCall {
  readonly type: string
  readonly queue: string
  readonly jobs: number
}

export interface Instrument {
  /** Calls `send` once, with the W3C traceparent to store with the jobs, and returns its result. */
  enqueue(call: EnqueueCall, send: (trace: string | undefined) => Promise<JobId[]>): Promise<JobId[]>
  /** Calls `start` once, in the async context where the handler must run, and returns its outcome. `job.trace` is the stored traceparent. */
  run(job: ClaimedJob, start: () => Promise<Outcome>): Promise<Outcome>
}
