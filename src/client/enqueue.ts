// Turns the inputs of one enqueue into the members of one call.

import type { JobDefinition } from '../domain/job/definition.js'
import { type CommonOptions, commonOptions, type EnqueueManyOptions } from '../domain/job/enqueue-options.js'
import type { JobId } from '../domain/job/job.js'
import { type Member, membersOf, memberText } from '../pipeline/member.js'
import { enqueueAndClaim, enqueueInputs, enqueueJobs, type StoredJobs } from '../store/jobs/enqueue.js'
import type { Store } from '../store/store.js'
import { asQueryable } from '../store/transaction.js'
import type { OwnWorker, SlotReservation } from './own-worker.js'

/** Called with the stored jobs; `start` is there when the worker of this process has claimed them, and runs them. */
export type OnStored = (ids: readonly JobId[], start?: () => void) => void

/** Returns the ids in the inputs' order. Calls `onStored` in the turn in which the answer is read. */
export async function enqueueMembers(
  store: Store,
  definition: JobDefinition,
  inputs: readonly unknown[],
  options: EnqueueManyOptions<unknown>,
  ownWorker: OwnWorker | undefined,
  onStored: OnStored,
): Promise<JobId[]> {
  const common = commonOptions(definition, options)
  const built = membersOf(definition, inputs, options)
  const members = Array.isArray(built) ? built : await built
  const tx = options.tx === undefined ? undefined : asQueryable(options.tx)
  const isUniform = options.actor === undefined && members.every(({ own }) => own === '')
  const slots = isUniform && !tx ? ownWorker?.reserve(common.type, common.queue, members.length) : undefined
  if (slots) return enqueueReserved(store, members, common, slots, onStored)

  // A worker may fall asleep before the caller's transaction commits, so that one always notifies.
  const manner = { wake: tx ? 'always' : 'sleepers', actor: options.actor, tx } as const
  const ids = isUniform
    ? await enqueueInputs(store, inputsText(members), JSON.stringify(common), manner)
    : await enqueueJobs(store, `[${members.map(memberText).join(',')}]`, JSON.stringify(common), manner)
  onStored(ids)
  return ids
}

async function enqueueReserved(
  store: Store,
  members: readonly Member[],
  common: CommonOptions,
  slots: SlotReservation,
  onStored: OnStored,
): Promise<JobId[]> {
  let isTaken = false
  const act = ({ ids, jobs }: StoredJobs) => {
    isTaken = jobs.length > 0
    onStored(ids, isTaken ? () => slots.take(jobs) : undefined)
    return ids
  }
  const { worker, queue } = slots
  try {
    return await slots.claim((leaseId) =>
      enqueueAndClaim(store, inputsText(members), JSON.stringify(common), { worker, queue, leaseId }, act),
    )
  } finally {
    if (!isTaken) slots.leave()
  }
}

function inputsText(members: readonly Member[]): string {
  return `[${members.map(({ input }) => input).join(',')}]`
}
