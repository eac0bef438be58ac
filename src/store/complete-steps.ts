// Completes jobs that others come after, and brings home what it was given of those in the same answer.

import type { ClaimedJob } from '../domain/job.js'
import type { OutcomeOf } from '../domain/outcome.js'
import { call } from './call.js'
import type { Store } from './open.js'
import { type ClaimedColumns, toClaimedJobs } from './rows.js'
import { leaseMember, type Settlement } from './settle.js'

/** Who completes, and how many jobs of which queues it could run at once. */
export interface Receiver {
  readonly worker: string
  readonly types: readonly string[]
  readonly room: ReadonlyMap<string, number>
}

export interface CompletedSteps {
  /** Per member: false where the lease was lost. */
  readonly verdicts: boolean[]
  /** Claimed for the receiver. */
  readonly handed: ClaimedJob[]
}

export async function completeSteps(
  store: Store,
  batch: readonly Settlement<OutcomeOf<'completed'>>[],
  { worker, types, room }: Receiver,
): Promise<CompletedSteps> {
  const members = batch.map(({ job, outcome: { output, next } }) => {
    return `${leaseMember(job)},"output":${output}${next === undefined ? '' : `,"next":${next}`}}`
  })
  const values = [`[${members.join(',')}]`, worker, [...room.keys()], [...room.values()], types]
  const [row] = await call(store, COMPLETE_STEPS, values)
  const lost = new Set((row?.lost ?? []) as number[])
  return {
    verdicts: batch.map((_, index) => !lost.has(index + 1)),
    handed: ((row?.handed ?? []) as ClaimedColumns[]).flatMap(toClaimedJobs),
  }
}

const COMPLETE_STEPS = {
  invocation: 'complete_steps_v1($1::text::jsonb, $2, $3, $4, $5)',
  columns: 'c.lost, array_to_json(c.handed) as handed',
}
