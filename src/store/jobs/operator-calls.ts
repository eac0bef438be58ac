// Operations on single jobs and queues.

import { JOB_STATES, type Job, type JobId, type JobState } from '../../domain/job/job.js'
import { LIMITS } from '../../domain/value/sizes.js'
import { sanitizeText } from '../../domain/value/text.js'
import { call, callOne } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import { toJob } from '../rows/job-rows.js'
import type { Store } from '../store.js'

export async function findJob(store: Store, id: JobId, tx?: Queryable): Promise<Job | undefined> {
  const [row] = await call(store, { invocation: 'find_job_v1($1)' }, [id], tx)
  return row && toJob(row)
}

/** Returns the state that the job was cancelled in. */
export async function cancelJob(
  store: Store,
  id: JobId,
  { reason, actor }: { reason: string | null; actor: string | null },
  tx?: Queryable,
): Promise<JobState> {
  const values = [id, reason === null ? null : sanitizeText(reason, LIMITS.reasonBytes), actor]
  const row = await callOne(store, { invocation: 'cancel_job_v1($1, $2, $3)', value: 'state' }, values, tx)
  return row.oneOf('state', JOB_STATES)
}

/** Returns the state that the job was in before. */
export async function retryJob(store: Store, id: JobId, actor: string | null, tx?: Queryable): Promise<JobState> {
  const row = await callOne(store, { invocation: 'retry_job_v1($1, $2)', value: 'state' }, [id, actor], tx)
  return row.oneOf('state', JOB_STATES)
}

/** Takes a running job from its holder if it was claimed longer than `staleMs` ago, and gives it new attempts. */
export async function recoverJob(
  store: Store,
  id: JobId,
  staleMs: number,
  actor: string | null,
  tx?: Queryable,
): Promise<void> {
  const invocation = 'recover_job_v1($1, make_interval(secs => $2::double precision / 1000), $3)'
  await call(store, { invocation, columns: 'true as recovered' }, [id, staleMs, actor], tx)
}

/** false when the queue was paused already. */
export async function pauseQueue(store: Store, queue: string, actor: string | null): Promise<boolean> {
  const statement = { invocation: 'pause_queue_v1($1, $2)', value: 'changed' }
  return (await callOne(store, statement, [queue, actor])).boolean('changed')
}

/** false when the queue was not paused. */
export async function resumeQueue(store: Store, queue: string, actor: string | null): Promise<boolean> {
  const statement = { invocation: 'resume_queue_v1($1, $2)', value: 'changed' }
  return (await callOne(store, statement, [queue, actor])).boolean('changed')
}
