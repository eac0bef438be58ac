// Turns what a caller gives into the members of one enqueue.

import type { JobDefinition } from '../domain/job/definition.js'
import { type CommonOptions, commonOptions, type EnqueueManyOptions, isPlain } from '../domain/job/enqueue-options.js'
import type { JobId } from '../domain/job/job.js'
import { type Member, membersOf, memberText } from '../pipeline/member.js'
import {
  enqueueAndClaim,
  enqueueAndClaimOne,
  enqueueInputs,
  enqueueJobs,
  type Holder,
  type StoredInHands,
} from '../store/jobs/enqueue.js'
import type { Store } from '../store/store.js'
import { asQueryable } from '../store/transaction.js'
import type { OwnWorker, Seats } from './own-worker.js'

/** Hears what is stored; `start` lets it begin here, where the worker of this process holds it already. */
export type OnStored = (ids: readonly JobId[], start?: () => void) => void

/** The ids in the inputs' order. `onStored` hears of them as soon as the answer is read: somebody may wait for the start. */
export async function enqueueMembers(
  store: Store,
  definition: JobDefinition,
  inputs: readonly unknown[],
  options: EnqueueManyOptions<unknown>,
  ownWorker: OwnWorker | undefined,
  onStored: OnStored,
): Promise<JobId[]> {
  const common = commonOptions(definition, options)
  const asked = membersOf(definition, inputs, options)
  const members = Array.isArray(asked) ? asked : await asked
  const tx = options.tx === undefined ? undefined : asQueryable(options.tx)
  const isUniform = options.actor === undefined && members.every(({ own }) => own === '')
  const seats = isUniform && !tx ? ownWorker?.reserve(common.type, common.queue, members.length) : undefined
  if (seats) return enqueueSeated(store, members, common, seats, onStored)

  // Inside a caller's transaction the commit may come much later than a sleeper's last look, so it always tells.
  const manner = { wake: tx ? 'always' : 'sleepers', actor: options.actor, tx } as const
  const ids = isUniform
    ? await enqueueInputs(store, inputsText(members), JSON.stringify(common), manner)
    : await enqueueJobs(store, `[${members.map(memberText).join(',')}]`, JSON.stringify(common), manner)
  onStored(ids)
  return ids
}

async function enqueueSeated(
  store: Store,
  members: readonly Member[],
  common: CommonOptions,
  seats: Seats,
  onStored: OnStored,
): Promise<JobId[]> {
  let isTaken = false
  const act = ({ ids, jobs }: StoredInHands) => {
    isTaken = jobs.length > 0
    onStored(ids, isTaken ? () => seats.take(jobs) : undefined)
    return ids
  }
  const { worker, queue } = seats
  try {
    return await seats.claim((leaseId) => enqueueIntoHands(store, members, common, { worker, queue, leaseId }, act))
  } finally {
    if (!isTaken) seats.leave()
  }
}

function enqueueIntoHands<T>(
  store: Store,
  members: readonly Member[],
  common: CommonOptions,
  holder: Holder,
  act: (stored: StoredInHands) => T,
): Promise<T> {
  const [first] = members
  if (first === undefined || members.length > 1 || !isPlain(common)) {
    return enqueueAndClaim(store, inputsText(members), JSON.stringify(common), holder, act)
  }
  const { type, queue, priority, max_attempts: maxAttempts } = common
  return enqueueAndClaimOne(store, { type, queue, priority, maxAttempts, input: first.input }, holder, act)
}

function inputsText(members: readonly Member[]): string {
  return `[${members.map(({ input }) => input).join(',')}]`
}
