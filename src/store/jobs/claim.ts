// Claims jobs: many of a queue, or one by its id. Releases the jobs of claims whose answer was lost.

import type { ClaimedJob, JobId } from '../../domain/job/job.js'
import { callOne, type Statement } from '../connection/call.js'
import { toClaimedJobs } from '../rows/claimed-jobs.js'
import type { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'

/** How far a worker has claimed in a queue; a claim that starts behind it does not meet the dead entries before it. */
export interface Cursor {
  readonly priority: number
  /** As the database prints it: a Date would lose the microseconds. */
  readonly runAt: string
  readonly jobId: JobId
}

export const QUEUE_START: Cursor = Object.freeze({ priority: 0, runAt: '-infinity', jobId: '0' })

export interface Claim {
  readonly from: Cursor
  readonly worker: string
  readonly queue: string
  readonly types: readonly string[]
  readonly n: number
  /** Made by the claimer, random and another one for each claim, so that it knows its claim without an answer. */
  readonly leaseId: string
}

type Claimer = Pick<Claim, 'worker' | 'types' | 'leaseId'>

export interface Batch {
  readonly jobs: ClaimedJob[]
  /** Where the next claim may go on. */
  readonly cursor: Cursor
  /** It stopped early because it parked many jobs of held keys: more may be due, however few it has claimed. */
  readonly hasMore: boolean
}

export async function claimBatch(store: Store, claim: Claim): Promise<Batch> {
  const { worker, queue, types, n, from, leaseId } = claim
  const values = [worker, queue, types, n, from.priority, from.runAt, from.jobId, leaseId]
  const row = await callOne(store, CLAIM_BATCH, values)
  const cursor = { priority: row.number('priority'), runAt: row.text('run_at'), jobId: row.id('job_id') }
  return { jobs: claimed(row), cursor, hasMore: row.boolean('has_more') }
}

/** undefined when another has it, it is not eligible, or this process has no handler for its type. */
export async function claimOne(
  store: Store,
  jobId: JobId,
  { worker, types, leaseId }: Claimer,
): Promise<ClaimedJob | undefined> {
  return claimed(await callOne(store, CLAIM_BY_ID, [jobId, worker, types, leaseId]))[0]
}

/** One job that two workers died with; the caller runs nothing beside it. */
export async function claimQuarantined(
  store: Store,
  { worker, types, leaseId }: Claimer,
  queues: readonly string[],
): Promise<ClaimedJob | undefined> {
  return claimed(await callOne(store, CLAIM_QUARANTINED, [worker, queues, types, leaseId]))[0]
}

/** Releases all jobs with these lease ids; returns the lease ids that jobs were found under. */
export async function releaseClaims(store: Store, worker: string, leaseIds: readonly string[]): Promise<string[]> {
  return (await callOne(store, RELEASE_CLAIMS, [worker, leaseIds])).texts('found')
}

// Long, because a claim without an answer may have been made, and must then be released.
const answerMs = 20_000
const CLAIM_BATCH: Statement = {
  invocation: 'claim_batch_v1($1, $2, $3, $4, $5, $6, $7, $8)',
  columns: 'c.jobs, c.priority, c.run_at::text as run_at, c.job_id::text as job_id, c.has_more',
  answerMs,
}
const CLAIM_BY_ID = { invocation: 'claim_by_id_v1($1, $2, $3, $4)', value: 'jobs' }
const CLAIM_QUARANTINED = { invocation: 'claim_quarantined_v1($1, $2, $3, $4)', value: 'jobs', answerMs }
const RELEASE_CLAIMS = { invocation: 'release_claims_v1($1, $2)', value: 'found' }

function claimed(row: RowReader): ClaimedJob[] {
  return row.isNull('jobs') ? [] : toClaimedJobs(row.json('jobs'))
}
