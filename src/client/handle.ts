// An enqueued job in the caller's hand.

import { type Duration, durationMs } from '../domain/duration.js'
import { type ErrorCode, HoldfastError, isHoldfastError } from '../domain/errors.js'
import type { Explanation } from '../domain/explanation.js'
import type { Job, JobId, JobState } from '../domain/job.js'
import type { EventHub } from '../observe/events.js'
import { explainJob } from '../store/explain.js'
import { cancelJob, findJob } from '../store/jobs.js'
import type { Store } from '../store/open.js'

export interface JobHandle<Output = unknown> {
  readonly id: JobId
  readonly type: string
  /** The job as it is now. */
  read(): Promise<Job>
  /**
   * Waits for the output. Throws JOB_FAILED, JOB_CANCELLED or JOB_SUPERSEDED with the job in `details`, RESULT_TIMEOUT when
   * the time is over (the job goes on), or the reason of an aborted `signal`.
   */
  result(options?: { timeout?: Duration; signal?: AbortSignal }): Promise<Output>
  cancel(reason?: string): Promise<JobState>
  /** Why it does not run, or what became of it. */
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
    async result({ timeout, signal }: { timeout?: Duration; signal?: AbortSignal } = {}) {
      const deadline = timeout === undefined ? undefined : performance.now() + durationMs(timeout, 'timeout')
      const finished = finishedHere(events, id)
      let failures = 0
      try {
        for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
          signal?.throwIfAborted()
          const job = await read().catch((error) => {
            // The database may be back at the next question; a caller who cannot wait has given a timeout.
            if (!isHoldfastError(error, 'CONNECTION_FAILED') || ++failures > MOST_FAILURES) throw error
            return undefined
          })
          if (job) failures = 0
          if (job && isFinal(job.state)) return outputOf<Output>(job)
          const left = deadline === undefined ? Number.POSITIVE_INFINITY : deadline - performance.now()
          if (left <= 0) throw timedOut(id, type, job?.state, timeout)
          await finished.within(Math.min(wait, left), signal)
        }
      } finally {
        finished.forget()
      }
    },
  })
}

// Jobs that end in this process are heard at once; others are found by asking, ever more seldom.
const FIRST_WAIT_MS = 20
const LONGEST_WAIT_MS = 1000
// About half a minute without an answer.
const MOST_FAILURES = 30

function isFinal(state: JobState): boolean {
  return state === 'completed' || state in FINAL_CODES
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

function finishedHere(events: EventHub, id: JobId) {
  let wake = () => {}
  let happened = false
  const heard = (fact: { id: JobId }) => {
    if (fact.id !== id) return
    happened = true
    wake()
  }
  const offs = (['job.completed', 'job.failed', 'job.cancelled', 'job.lost'] as const).map((n) => events.on(n, heard))
  return {
    /** Resolves when the job may have finished, after `ms`, or when `signal` aborts. */
    within: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (happened) {
          happened = false
          return resolve()
        }
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          happened = false
          resolve()
        }
        wake = done
        const timer = setTimeout(done, ms)
        signal?.addEventListener('abort', done, { once: true })
      }),
    forget: () => {
      for (const off of offs) off()
    },
  }
}
