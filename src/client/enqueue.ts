// Turns what a caller gives into the members of one enqueue.

import type { JobDefinition } from '../domain/definition.js'
import { type CommonOptions, commonOptions, type EnqueueManyOptions, isPlain } from '../domain/enqueue-options.js'
import type { ClaimedJob, JobId } from '../domain/job.js'
import { type Member, membersOf, memberText } from '../pipeline/member.js'
import { enqueueHeld, enqueueInputs, enqueueJobs, enqueueOneHeld, type Holder } from '../store/enqueue.js'
import type { Store } from '../store/open.js'
import { asQueryable } from '../store/transaction.js'
import type { OwnWorker, Seats } from './own-worker.js'

export interface Enqueued {
  readonly ids: JobId[]
  /** Starts them here: the worker of this process holds them already. */
  readonly start?: () => void
}

export async function enqueueMembers(
  store: Store,
  definition: JobDefinition,
  inputs: readonly unknown[],
  options: EnqueueManyOptions<unknown>,
  ownWorker: OwnWorker | undefined,
): Promise<Enqueued> {
  const common = commonOptions(definition, options)
  const asked = membersOf(definition, inputs, options)
  const members = Array.isArray(asked) ? asked : await asked
  const tx = options.tx === undefined ? undefined : asQueryable(options.tx)
  // Inside a caller's transaction the commit may come much later than a sleeper's last look, so it always tells.
  const wake = tx ? 'always' : 'sleepers'
  const { actor } = options
  if (actor === undefined && members.every(({ own }) => own === '')) {
    const seats = tx ? undefined : ownWorker?.reserve(common.type, common.queue, members.length)
    if (seats) return await enqueueSeated(store, members, common, seats)
    return { ids: await enqueueInputs(store, inputsText(members), JSON.stringify(common), { wake, tx }) }
  }
  const texts = `[${members.map(memberText).join(',')}]`
  return { ids: await enqueueJobs(store, texts, JSON.stringify(common), { wake, actor, tx }) }
}

async function enqueueSeated(
  store: Store,
  members: readonly Member[],
  common: CommonOptions,
  seats: Seats,
): Promise<Enqueued> {
  let jobs: readonly ClaimedJob[] = []
  try {
    const { worker, queue } = seats
    const enqueued = await seats.claim((leaseId) =>
      enqueueIntoHands(store, members, common, { worker, queue, leaseId }),
    )
    jobs = enqueued.jobs
    return jobs.length > 0 ? { ids: enqueued.ids, start: () => seats.take(jobs) } : { ids: enqueued.ids }
  } finally {
    if (jobs.length === 0) seats.leave()
  }
}

function enqueueIntoHands(store: Store, members: readonly Member[], common: CommonOptions, holder: Holder) {
  const [first] = members
  if (first === undefined || members.length > 1 || !isPlain(common)) {
    return enqueueHeld(store, inputsText(members), JSON.stringify(common), holder)
  }
  const { type, queue, priority, max_attempts: maxAttempts } = common
  return enqueueOneHeld(store, { type, queue, priority, maxAttempts, input: first.input }, holder)
}

function inputsText(members: readonly Member[]): string {
  return `[${members.map(({ input }) => input).join(',')}]`
}
