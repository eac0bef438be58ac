// Claims jobs: many of a queue, or one by its id.

import type { ClaimedJob, JobId } from '../domain/job.js'
import { call } from './call.js'
import type { Row } from './connection.js'
import type { Store } from './open.js'
import { type ClaimedTuple, toClaimedJob } from './rows.js'

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
  return claimed(await call(store, CLAIM_JOBS, values))
}

/** undefined when another has it, it is not eligible, or this process has no handler for its type. */
export async function claimOne(
  store: Store,
  jobId: JobId,
  { worker, types }: Pick<Claim, 'worker' | 'types'>,
): Promise<ClaimedJob | undefined> {
  return claimed(await call(store, CLAIM_ONE, [jobId, worker, types]))[0]
}

/** One job that two workers died with; the caller runs nothing beside it. */
export async function claimSuspect(
  store: Store,
  { worker, types }: Pick<Claim, 'worker' | 'types'>,
  queues: readonly string[],
): Promise<ClaimedJob | undefined> {
  return claimed(await call(store, CLAIM_SUSPECT, [worker, queues, types]))[0]
}

// All jobs of a claim come as one JSON array of arrays: one parse for the batch costs a quarter of a parse per column.
const CLAIMED = `json_agg(json_build_array(c.id::text, c.type, c.queue, c.priority, c.input, c.token::text, c.lease_id,
  c.attempts, c.max_attempts, c.key, c.pipeline_id, c.tags, c.run_at::text,
  date_part('epoch', c.locked_until - holdfast.now()))) as jobs`
// A claim that is given up may have been made: its jobs come back when their leases are over, so it is given up late.
const answerMs = 20_000
const CLAIM_JOBS = { invocation: 'claim_jobs_v1($1, $2, $3, $4, $5, $6, $7)', columns: CLAIMED, answerMs }
const CLAIM_ONE = { invocation: 'claim_one_v1($1, $2, $3)', columns: CLAIMED }
const CLAIM_SUSPECT = { invocation: 'claim_suspect_v1($1, $2, $3)', columns: CLAIMED, answerMs }

function claimed([row]: Row[]): ClaimedJob[] {
  return ((row?.jobs ?? []) as ClaimedTuple[]).map(toClaimedJob)
}
