// Claims jobs: many of a queue, or one by its id.

import type { ClaimedJob, JobId } from '../domain/job.js'
import { call } from './call.js'
import type { Store } from './open.js'
import { toClaimedJob } from './rows.js'

/** The last position a worker claimed in a queue; a claim that starts behind it does not meet the dead entries before it. */
export interface Cursor {
  readonly priority: number
  readonly runAt: string
  readonly jobId: JobId
}

export const QUEUE_START: Cursor = Object.freeze({ priority: 0, runAt: '-infinity', jobId: '0' })

export interface Claim {
  readonly worker: string
  readonly queue: string
  readonly types: readonly string[]
  readonly n: number
  readonly from: Cursor
}

export async function claimJobs(store: Store, { worker, queue, types, n, from }: Claim): Promise<ClaimedJob[]> {
  const values = [worker, [queue], types, n, from.priority, from.runAt, from.jobId]
  return (await call(store, CLAIM_JOBS, values)).map((row) => toClaimedJob(row, queue))
}

/** undefined when another has it, it is not eligible, or this process has no handler for its type. */
export async function claimOne(
  store: Store,
  jobId: JobId,
  { worker, types }: Pick<Claim, 'worker' | 'types'>,
): Promise<ClaimedJob | undefined> {
  const [row] = await call(store, CLAIM_ONE, [jobId, worker, types])
  return row && toClaimedJob(row, row.queue as string)
}

/** One job that two workers died with; the caller runs nothing beside it. */
export async function claimSuspect(
  store: Store,
  { worker, types }: Pick<Claim, 'worker' | 'types'>,
  queues: readonly string[],
): Promise<ClaimedJob | undefined> {
  const [row] = await call(store, CLAIM_SUSPECT, [worker, queues, types])
  return row && toClaimedJob(row, row.queue as string)
}

const CLAIMED = `c.id, c.type, c.input, c.token, c.lease_id, c.attempts, c.max_attempts, c.priority, c.key, c.pipeline_id,
  c.tags, c.run_at::text, round(extract(epoch from c.locked_until - clock_timestamp()) * 1000) as lease_ms`
const CLAIM_JOBS = { invocation: 'claim_jobs_v1($1, $2, $3, $4, $5, $6, $7)', columns: CLAIMED }
const CLAIM_ONE = { invocation: 'claim_one_v1($1, $2, $3)', columns: `${CLAIMED}, c.queue` }
const CLAIM_SUSPECT = { invocation: 'claim_suspect_v1($1, $2, $3)', columns: `${CLAIMED}, c.queue` }
