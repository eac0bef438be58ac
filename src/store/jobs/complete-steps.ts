// Completes jobs that others come after, and brings home what it was given of those in the same answer.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { OutcomeOf } from '../../domain/run/outcome.js'
import { callAndAct, type Statement } from '../connection/call.js'
import { type ClaimedColumns, toClaimedJobs } from '../rows/claimed-jobs.js'
import type { Store } from '../store.js'
import { leaseMember, type Settlement } from './settle.js'

/** Who completes, and how many jobs of which queues it could run at once. */
export interface Receiver {
  readonly worker: string
  readonly types: readonly string[]
  readonly room: ReadonlyMap<string, number>
  /** Given what was claimed for it in the turn in which the answer is read. */
  take(handed: readonly ClaimedJob[]): void
}

type CompletedStep = Settlement<OutcomeOf<'completed'>>

/** Per member: false where the lease was lost. */
export function completeSteps(store: Store, batch: readonly CompletedStep[], receiver: Receiver): Promise<boolean[]> {
  const [first] = batch
  return first && batch.length === 1 && first.outcome.next === undefined
    ? completeOne(store, first, receiver)
    : completeMany(store, batch, receiver)
}

/** From one step to the next: what a chain does all the time, in the form that takes the database the shortest time. */
function completeOne(store: Store, { job, outcome }: CompletedStep, receiver: Receiver): Promise<boolean[]> {
  const output = outcome.output === 'null' ? null : outcome.output
  const values = [job.id, job.token, job.leaseId, output, ...receiving(receiver)]
  return callAndAct(store, COMPLETE_STEP, values, (row) => {
    const handed = row?.handed as ClaimedColumns[] | null
    hand(receiver, handed)
    return [handed !== null]
  })
}

function completeMany(store: Store, batch: readonly CompletedStep[], receiver: Receiver): Promise<boolean[]> {
  const members = batch.map(({ job, outcome: { output, next } }) => {
    return `${leaseMember(job)},"output":${output}${next === undefined ? '' : `,"next":${next}`}}`
  })
  return callAndAct(store, COMPLETE_STEPS, [`[${members.join(',')}]`, ...receiving(receiver)], (row) => {
    hand(receiver, row?.handed as ClaimedColumns[] | null)
    const lost = new Set((row?.lost ?? []) as number[])
    return batch.map((_, index) => !lost.has(index + 1))
  })
}

function hand(receiver: Receiver, columns: readonly ClaimedColumns[] | null): void {
  const handed = (columns ?? []).flatMap(toClaimedJobs)
  if (handed.length > 0) receiver.take(handed)
}

function receiving({ worker, types, room }: Receiver): unknown[] {
  return [worker, [...room.keys()], [...room.values()], types]
}

const COMPLETE_STEP: Statement = {
  invocation: 'complete_step_v1($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8)',
  value: 'handed',
}

const COMPLETE_STEPS = {
  invocation: 'complete_steps_v1($1::text::jsonb, $2, $3, $4, $5)',
  columns: 'c.lost, array_to_json(c.handed) as handed',
}
