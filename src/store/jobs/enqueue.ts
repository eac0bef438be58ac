// Enqueues jobs in one round trip.

import type { ClaimedJob, JobId } from '../../domain/job/job.js'
import { BULK_MS, call, callAndAct, callOne, type Statement } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import { toClaimedJobs } from '../rows/claimed-jobs.js'
import type { Store } from '../store.js'

export interface EnqueueManner {
  /** Whom to notify. `sleepers`: only if a worker sleeps, which only a call that commits at once may rely on. */
  readonly wake: 'always' | 'sleepers' | 'never'
  /** The operator who enqueues, for the audit. */
  readonly actor?: string | undefined
  readonly tx?: Queryable | undefined
}

/** Both texts are JSON: the array of members and the options they share. Ids come in the members' order. */
export async function enqueueJobs(
  store: Store,
  members: string,
  common: string,
  { wake, actor, tx }: EnqueueManner,
): Promise<JobId[]> {
  const values = [members, common, wake]
  const rows =
    actor === undefined
      ? await call(store, ENQUEUE_JOBS, values, tx)
      : await call(store, ENQUEUE_AS_OPERATOR, [...values, actor], tx)
  return rows.map((row) => row.id('id'))
}

/** For jobs that differ in nothing but their input: half the work for the database. `inputs` is the JSON array of them. */
export async function enqueueInputs(
  store: Store,
  inputs: string,
  common: string,
  { wake, tx }: Omit<EnqueueManner, 'actor'>,
): Promise<JobId[]> {
  const ids = (await callOne(store, ENQUEUE_INPUTS, [inputs, common, wake], tx)).text('ids')
  return ids === '' ? [] : ids.split(',')
}

/** The worker that claims the jobs as they are enqueued. */
export interface Claimer {
  readonly worker: string
  readonly queue: string
  /** As for a claim. */
  readonly leaseId: string
}

/** Jobs that are stored; those that are pending are not in `jobs`. */
export interface StoredJobs {
  readonly ids: JobId[]
  readonly jobs: ClaimedJob[]
}

/** As enqueueInputs, claimed at once for a worker of this process. `act` starts the jobs in the turn in which the answer is read. */
export function enqueueAndClaim<T>(
  store: Store,
  inputs: string,
  common: string,
  { worker, queue, leaseId }: Claimer,
  act: (stored: StoredJobs) => T,
): Promise<T> {
  return callAndAct(store, ENQUEUE_AND_CLAIM, [inputs, common, worker, queue, leaseId], (row) => {
    const stored = row.nested('stored')
    const ids = stored.text('id')
    const isClaimed = !stored.isNull('lease_id')
    return act({ ids: ids === '' ? [] : ids.split(','), jobs: isClaimed ? toClaimedJobs(row.json('stored')) : [] })
  })
}

const ENQUEUE_AND_CLAIM: Statement = {
  invocation: 'enqueue_and_claim_v1($1::text::jsonb, $2::text::jsonb, $3, $4, $5)',
  value: 'stored',
}
const ENQUEUE_INPUTS: Statement = {
  invocation: 'enqueue_inputs_v1($1::text::jsonb, $2::text::jsonb, $3)',
  columns: `array_to_string(c, ',') as ids`,
  answerMs: BULK_MS,
}
const ENQUEUE_JOBS: Statement = {
  invocation: 'enqueue_jobs_v1($1::text::jsonb, $2::text::jsonb, $3)',
  columns: 'c as id',
  answerMs: BULK_MS,
}

const ENQUEUE_AS_OPERATOR = {
  invocation: 'enqueue_as_operator_v1($1::text::jsonb, $2::text::jsonb, $3, $4)',
  columns: 'c as id',
  answerMs: BULK_MS,
}
