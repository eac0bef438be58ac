// An enqueued job in the caller's hand.

import { type ErrorCode, HoldfastError } from '../domain/error/errors.js'
import type { Explanation } from '../domain/job/explanation.js'
import type { Job, JobId, JobState } from '../domain/job/job.js'
import type { Duration } from '../domain/value/duration.js'
import type { EventHub } from '../observe/events.js'
import { cancelJob, findJob } from '../store/jobs/operator-calls.js'
import { explainJob } from '../store/reads/explain.js'
import type { Store } from '../store/store.js'
import { isFinalState, type ResultOptions, untilFinal } from './until-final.js'

export interface JobHandle<Output = unknown> {
  readonly id: JobId
  readonly type: string
  /** The job as it is now. */
  read(): Promise<Job>
  /**
   * Waits for the output. Throws JOB_FAILED, JOB_CANCELLED or JOB_SUPERSEDED with the job in `details`, RESULT_TIMEOUT when
   * the time is over (the job goes on), or the reason of an aborted `signal`.
   */
  result(options?: ResultOptions): Promise<Output>
  cancel(reason?: string): Promise<JobState>
  /** Why it does not run, or how it ended. */
  explain(): Promise<Explanation>
}

export function jobHandle<Output>(store: Store, events: EventHub, id: JobId, type: string): JobHandle<Output> {
  const read = async () => {
    const job = await findJob(store, id)
    if (job) return job
    throw new HoldfastError('JOB_NOT_FOUND', `there is no job ${id}`, { details: { jobId: id } })
  }
  return Object.freeze({
    id,
    type,
    read,
    cancel: (reason?: string) => cancelJob(store, id, { reason: reason ?? null, actor: null }),
    explain: () => explainJob(store, id),
    async result(options: ResultOptions = {}) {
      const job = await untilFinal({
        events,
        id,
        read,
        isFinal: ({ state }) => isFinalState(state),
        late: (job) => timedOut(id, type, job?.state, options.timeout),
        ...options,
      })
      return outputOf<Output>(job)
    },
  })
}

const FINAL_CODES: Readonly<Record<string, ErrorCode>> = {
  failed: 'JOB_FAILED',
  cancelled: 'JOB_CANCELLED',
  superseded: 'JOB_SUPERSEDED',
}

function outputOf<Output>(job: Job): Output {
  const code = FINAL_CODES[job.state]
  if (code === undefined) return job.output as Output
  throw new HoldfastError(
    code,
    `job ${job.id} (${job.type}) ${job.state}: ${job.error?.message ?? 'no reason given'}`,
    {
      details: { jobId: job.id, type: job.type, state: job.state, error: job.error, attempts: job.attempts },
    },
  )
}

function timedOut(id: JobId, type: string, state: JobState | undefined, timeout: Duration | undefined): HoldfastError {
  const known = state ? `is still ${state}` : 'could not be asked for'
  return new HoldfastError('RESULT_TIMEOUT', `job ${id} (${type}) ${known} after ${timeout}`, {
    details: { jobId: id, state, timeout },
  })
}
