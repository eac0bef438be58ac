// Ends claims: each function takes a batch and gives a verdict per member, false where the lease was lost.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { OutcomeOf } from '../../domain/run/outcome.js'
import { type Callee, callRaw as call, type Statement } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import type { Store } from '../store.js'

/** What every write of a holder presents. */
export type Lease = Pick<ClaimedJob, 'id' | 'token' | 'leaseId'>

export interface Settlement<O> {
  readonly job: ClaimedJob
  readonly outcome: O
}

/** The one that a busy worker does tens of thousands of times a second: arrays in, and only what was refused comes back. */
export async function completeJobs(
  store: Store,
  batch: readonly Settlement<OutcomeOf<'completed'>>[],
): Promise<boolean[]> {
  const ids = `{${batch.map(({ job }) => job.id).join(',')}}`
  const claims = claimsOf(batch)
  const [row] = claims
    ? await call(store, COMPLETE_CLAIMS, [ids, claims.counts, claims.tokens, claims.leaseIds])
    : await call(store, COMPLETE, [ids, ...leasesOf(batch)])
  const verdicts = batch.map(() => true)
  for (const place of (row?.lost ?? []) as number[]) verdicts[place - 1] = false
  return verdicts
}

// Beyond this many the members are rather compared one by one, all at once.
const MOST_CLAIMS = 8

interface Claims {
  readonly counts: number[]
  readonly tokens: string[]
  readonly leaseIds: string[]
}

/** What the members of a plain batch have in common, claim by claim; undefined when it is not plain or they have too little. */
function claimsOf(batch: readonly Settlement<OutcomeOf<'completed'>>[]): Claims | undefined {
  const claims: Claims = { counts: [], tokens: [], leaseIds: [] }
  let last: ClaimedJob | undefined
  for (const { job, outcome } of batch) {
    if (job.key !== null || outcome.output !== 'null') return undefined
    if (last?.leaseId === job.leaseId && last.token === job.token) {
      ;(claims.counts[claims.counts.length - 1] as number) += 1
    } else if (claims.counts.length === MOST_CLAIMS) {
      return undefined
    } else {
      claims.counts.push(1)
      claims.tokens.push(job.token)
      claims.leaseIds.push(job.leaseId)
    }
    last = job
  }
  return claims
}

function leasesOf(batch: readonly Settlement<OutcomeOf<'completed'>>[]): (string | null)[] {
  const tokens = `{${batch.map(({ job }) => job.token).join(',')}}`
  const leaseIds = `{${batch.map(({ job }) => job.leaseId).join(',')}}`
  const hasOutput = batch.some(({ outcome }) => outcome.output !== 'null')
  return [tokens, leaseIds, hasOutput ? `[${batch.map(({ outcome }) => outcome.output).join(',')}]` : null]
}

export function failJobs(store: Store, batch: readonly Settlement<OutcomeOf<'failed'>>[]): Promise<boolean[]> {
  return settle(store, FAIL, batch, ({ failure, retry }) => {
    const error = `,"error":${JSON.stringify(failure)}`
    if (retry.kind === 'never') return `${error},"permanent":true`
    return retry.kind === 'after' ? `${error},"delay_ms":${retry.delayMs}` : error
  })
}

export function snoozeJobs(store: Store, batch: readonly Settlement<OutcomeOf<'snoozed'>>[]): Promise<boolean[]> {
  return settle(store, SNOOZE, batch, (outcome) => `,"delay_ms":${outcome.delayMs}`)
}

export function suspendJobs(store: Store, batch: readonly Settlement<OutcomeOf<'suspended'>>[]): Promise<boolean[]> {
  return settle(store, SUSPEND, batch, ({ waits }) => {
    const members = waits.map(({ delayMs, ...wait }) => ({ ...wait, delay_ms: delayMs }))
    return `,"waits":${JSON.stringify(members)}`
  })
}

export function cancelJobs(store: Store, batch: readonly Settlement<OutcomeOf<'cancelled'>>[]): Promise<boolean[]> {
  return settle(store, CANCEL, batch, ({ reason }) => (reason === null ? '' : `,"reason":${JSON.stringify(reason)}`))
}

export function releaseJobs(store: Store, batch: readonly Settlement<OutcomeOf<'released'>>[]): Promise<boolean[]> {
  return settle(store, RELEASE, batch, () => '')
}

/** Raises LEASE_LOST inside the caller's transaction unless this claim still holds; nobody can take it before commit. */
export async function assertLease(store: Store, { id, token, leaseId }: ClaimedJob, tx: Queryable): Promise<void> {
  await call(store, ASSERT, [id, token, leaseId], tx)
}

/** Completes inside the caller's transaction: the job is done if and only if that transaction commits. */
export async function completeJob(store: Store, job: ClaimedJob, output: string, tx: Queryable): Promise<void> {
  await call(store, COMPLETE_ONE, [job.id, job.token, job.leaseId, output], tx)
}

/** false when the lease was lost. */
export async function reportProgress(
  store: Store,
  { id, token, leaseId }: ClaimedJob,
  progress: number,
  message: string | null,
): Promise<boolean> {
  const [row] = await call(store, PROGRESS, [id, token, leaseId, progress, message])
  return row?.held === true
}

// Members are put together as text: the output is JSON text already and must not be parsed and printed again.
async function settle<O>(
  store: Store,
  statement: Statement,
  batch: readonly Settlement<O>[],
  more: (outcome: O) => string,
): Promise<boolean[]> {
  const members = batch.map(({ job, outcome }) => `${leaseMember(job)}${more(outcome)}}`)
  const rows = await call(store, statement, [`[${members.join(',')}]`])
  return rows.map((row) => row.settled === true)
}

/** The beginning of a member, to be closed by whoever adds to it. */
export function leaseMember({ id, token, leaseId }: Lease): string {
  return `{"job_id":${id},"token":${token},"lease_id":"${leaseId}"`
}

/** Looks at every lease and extends those that are due; false where it was lost. */
export async function renewLeases(store: Callee, leases: readonly Lease[], session?: Queryable): Promise<boolean[]> {
  const rows = await call(store, RENEW, [`[${leases.map((lease) => `${leaseMember(lease)}}`).join(',')}]`], session)
  return rows.map((row) => row.renewed === true)
}

/** Extends all that the worker holds and that is due, for one that cannot say what it holds. */
export async function renewWorker(store: Callee, worker: string, session: Queryable): Promise<void> {
  await call(store, RENEW_WORKER, [worker], session)
}

const batched = (name: string): Statement => ({
  invocation: `${name}($1::text::jsonb)`,
  columns: 'c.settled',
})
const COMPLETE = {
  invocation: 'complete_leases_v1($1::bigint[], $2::bigint[], $3::uuid[], $4::text::jsonb)',
  value: 'lost',
}
const COMPLETE_CLAIMS = {
  invocation: 'complete_claims_v1($1::bigint[], $2::integer[], $3::bigint[], $4::uuid[])',
  value: 'lost',
}
const FAIL = batched('fail_jobs_v1')
const SNOOZE = batched('snooze_jobs_v1')
const SUSPEND = batched('suspend_jobs_v1')
const CANCEL = batched('cancel_jobs_v1')
const RELEASE = batched('release_jobs_v1')
const RENEW = { invocation: 'renew_leases_v1($1::text::jsonb, true)', columns: 'c.renewed' }
const RENEW_WORKER = { invocation: 'renew_worker_v1($1)', value: 'renewed' }
// Not the function's own column: some libraries cannot read a void.
const ASSERT = { invocation: 'assert_lease_v1($1, $2, $3)', columns: 'true as held' }
const COMPLETE_ONE = { invocation: 'complete_job_v1($1, $2, $3, $4::text::jsonb)', columns: 'true as held' }
const PROGRESS = { invocation: 'report_progress_v1($1, $2, $3, $4, $5)', value: 'held' }
