// What the holder of a lease writes. Ends of claims go in batches, with a verdict per member.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { Outcome, OutcomeOf } from '../../domain/run/outcome.js'
import { type Callee, call, callAndAct, callOne, type Statement } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import { toClaimedJobs } from '../rows/claimed-jobs.js'
import type { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'

/** What every write of a holder presents. */
export type Lease = Pick<ClaimedJob, 'id' | 'token' | 'leaseId'>

export interface Settlement<O> {
  readonly job: ClaimedJob
  readonly outcome: O
}

/** Who settles, and how many jobs of which queues it could run at once. */
export interface Receiver {
  readonly worker: string
  readonly types: readonly string[]
  readonly slots: ReadonlyMap<string, number>
  /** Given what was claimed for it in the turn in which the answer is read. */
  take(handed: readonly ClaimedJob[]): void
}

type Completion = Settlement<OutcomeOf<'completed'>>

/** Nothing else is concerned when it completes. */
export function isPlain(settlement: Settlement<Outcome>): settlement is Completion {
  const { job, outcome } = settlement
  return outcome.kind === 'completed' && outcome.next === undefined && job.key === null && job.pipelineId === null
}

/** A completed step of a pipeline that starts no other jobs than those it has. */
export function isStep(settlement: Settlement<Outcome>): settlement is Completion {
  const { job, outcome } = settlement
  return outcome.kind === 'completed' && outcome.next === undefined && job.pipelineId !== null
}

/** What a busy worker does tens of thousands of times a second: arrays in. False: not settled, settleJobs says why. */
export async function completePlainJobs(store: Store, batch: readonly Completion[]): Promise<boolean[]> {
  const claims = new Map<string, Completion[]>()
  for (const settlement of batch) {
    const lease = `${settlement.job.token} ${settlement.job.leaseId}`
    const known = claims.get(lease)
    if (known) known.push(settlement)
    else claims.set(lease, [settlement])
  }
  const sorted = [...claims.values()].flat()
  const firsts = [...claims.values()].map(([first]) => (first as Completion).job)
  let end = 0
  const ends = [...claims.values()].map((claim) => {
    end += claim.length
    return end
  })
  const outputs = sorted.flatMap(({ job, outcome: { output } }) => (output === 'null' ? [] : `"${job.id}":${output}`))
  const values = [
    `{${sorted.map(({ job }) => job.id).join(',')}}`,
    ends,
    firsts.map(({ token }) => token),
    firsts.map(({ leaseId }) => leaseId),
    outputs.length > 0 ? `{${outputs.join(',')}}` : null,
  ]
  const row = await callOne(store, COMPLETE_PLAIN, values)
  const unsettled = new Set(row.isNull('unsettled') ? [] : row.ids('unsettled'))
  return batch.map(({ job }) => !unsettled.has(job.id))
}

/** From one step to the next: what a chain does all the time, in the form that takes the database the shortest time. */
export function completeStep(store: Store, { job, outcome }: Completion, receiver: Receiver): Promise<boolean> {
  const output = outcome.output === 'null' ? null : outcome.output
  const values = [job.id, job.token, job.leaseId, output, ...receiving(receiver)]
  return callAndAct(store, COMPLETE_STEP, values, (row) => {
    hand(receiver, row)
    return !row.isNull('handed')
  })
}

/** Any mix of outcomes; a verdict per member, false where the lease was lost. */
export function settleJobs(
  store: Store,
  batch: readonly Settlement<Outcome>[],
  receiver: Receiver,
): Promise<boolean[]> {
  // Put together as text: the output is JSON text already and must not be parsed and printed again.
  const members = batch.map(({ job, outcome }) => `${leaseMember(job)},${outcomeFields(outcome)}}`)
  return callAndAct(store, SETTLE, [`[${members.join(',')}]`, ...receiving(receiver)], (row) => {
    hand(receiver, row)
    const lost = new Set(row.isNull('lost') ? [] : row.numbers('lost'))
    return batch.map((_, index) => !lost.has(index + 1))
  })
}

function outcomeFields(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'completed':
      return `"outcome":"complete","output":${outcome.output}${outcome.next === undefined ? '' : `,"next":${outcome.next}`}`
    case 'failed': {
      const error = `"outcome":"fail","error":${JSON.stringify(outcome.failure)}`
      if (outcome.retry.kind === 'never') return `${error},"permanent":true`
      return outcome.retry.kind === 'after' ? `${error},"delay_ms":${outcome.retry.delayMs}` : error
    }
    case 'snoozed':
      return `"outcome":"snooze","delay_ms":${outcome.delayMs}`
    case 'suspended': {
      const waits = outcome.waits.map(({ delayMs, ...wait }) => ({ ...wait, delay_ms: delayMs }))
      return `"outcome":"suspend","waits":${JSON.stringify(waits)}`
    }
    case 'cancelled':
      return `"outcome":"cancel"${outcome.reason === null ? '' : `,"reason":${JSON.stringify(outcome.reason)}`}`
    case 'released':
    case 'lost': // is refused
      return `"outcome":"release"`
    default:
      return outcome satisfies never
  }
}

function hand(receiver: Receiver, row: RowReader): void {
  const handed = row.isNull('handed') ? [] : row.list('handed').flatMap(toClaimedJobs)
  if (handed.length > 0) receiver.take(handed)
}

function receiving({ worker, types, slots }: Receiver): unknown[] {
  return [worker, [...slots.keys()], [...slots.values()], types]
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
  return (await callOne(store, PROGRESS, [id, token, leaseId, progress, message])).boolean('held')
}

/** The beginning of a member; the caller adds its fields and the closing brace. */
export function leaseMember({ id, token, leaseId }: Lease): string {
  return `{"job_id":${id},"token":${token},"lease_id":"${leaseId}"`
}

/** Looks at every lease and extends those that are due; false where it was lost. */
export async function renewLeases(store: Callee, leases: readonly Lease[], session?: Queryable): Promise<boolean[]> {
  const rows = await call(store, RENEW, [`[${leases.map((lease) => `${leaseMember(lease)}}`).join(',')}]`], session)
  return rows.map((row) => row.boolean('renewed'))
}

/** Extends all that the worker holds and that is due, for one that cannot say what it holds. */
export async function renewWorker(store: Callee, worker: string, session: Queryable): Promise<void> {
  await call(store, RENEW_WORKER, [worker], session)
}

const COMPLETE_PLAIN: Statement = {
  invocation: 'complete_plain_jobs_v1($1::bigint[], $2::integer[], $3::bigint[], $4::uuid[], $5::text::jsonb)',
  value: 'unsettled',
}
const COMPLETE_STEP: Statement = {
  invocation: 'complete_step_v1($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8)',
  value: 'handed',
}
const SETTLE: Statement = {
  invocation: 'settle_jobs_v1($1::text::jsonb, $2, $3, $4, $5)',
  columns: 'c.lost, array_to_json(c.handed) as handed',
}
const RENEW = { invocation: 'renew_leases_v1($1::text::jsonb, true)', columns: 'c.renewed' }
const RENEW_WORKER = { invocation: 'renew_worker_v1($1)', value: 'renewed' }
// Not the function's own column: some libraries cannot read a void.
const ASSERT = { invocation: 'assert_lease_v1($1, $2, $3)', columns: 'true as held' }
const COMPLETE_ONE = { invocation: 'complete_job_v1($1, $2, $3, $4::text::jsonb)', columns: 'true as held' }
const PROGRESS = { invocation: 'report_progress_v1($1, $2, $3, $4, $5)', value: 'held' }
