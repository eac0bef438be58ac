// Reads of single jobs and the operations of operators.

import type { Job, JobId, JobState } from '../../domain/job/job.js'
import { LIMITS } from '../../domain/value/sizes.js'
import { sanitizeText } from '../../domain/value/text.js'
import { call } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import type { Store } from '../store.js'
import { toJob } from './rows.js'

export async function findJob(store: Store, id: JobId, tx?: Queryable): Promise<Job | undefined> {
  const [row] = await call(store, { invocation: 'find_job_v1($1)' }, [id], tx)
  return row && toJob(row)
}

/** The state it was cancelled in. */
export async function cancelJob(
  store: Store,
  id: JobId,
  { reason, actor }: { reason: string | null; actor: string | null },
  tx?: Queryable,
): Promise<JobState> {
  const [row] = await call(
    store,
    { invocation: 'cancel_job_v1($1, $2, $3)', value: 'state' },
    [id, reason === null ? null : sanitizeText(reason, LIMITS.reasonBytes), actor],
    tx,
  )
  return row?.state as JobState
}

/** The state it was in before. */
export async function retryJob(store: Store, id: JobId, actor: string | null, tx?: Queryable): Promise<JobState> {
  const [row] = await call(store, { invocation: 'retry_job_v1($1, $2)', value: 'state' }, [id, actor], tx)
  return row?.state as JobState
}

/** Takes a running job from its holder, if it was claimed longer ago than `staleMs`, and gives it fresh attempts. */
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

export async function currentJob(store: Store, key: string): Promise<Job | undefined> {
  const [row] = await call(store, { invocation: 'current_v1($1)' }, [key])
  return row && toJob(row)
}

export async function keyHistory(store: Store, key: string, n: number): Promise<Job[]> {
  return (await call(store, { invocation: 'key_history_v1($1, $2)' }, [key, n])).map(toJob)
}
