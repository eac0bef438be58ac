// Turns what a caller gives into the members of one enqueue.

import type { JobDefinition } from '../domain/definition.js'
import { commonOptions, type EnqueueManyOptions } from '../domain/enqueue-options.js'
import type { ClaimedJob, JobId } from '../domain/job.js'
import { memberOf, memberText } from '../pipeline/member.js'
import { enqueueHeld, enqueueInputs, enqueueJobs } from '../store/enqueue.js'
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
  const common = JSON.stringify(commonOptions(definition, options))
  const members = await Promise.all(inputs.map((given, index) => memberOf(definition, given, index, options)))
  const tx = options.tx === undefined ? undefined : asQueryable(options.tx)
  // Inside a caller's transaction the commit may come much later than a sleeper's last look, so it always tells.
  const wake = tx ? 'always' : 'sleepers'
  const { actor } = options
  if (actor === undefined && members.every(({ own }) => own === '')) {
    const given = `[${members.map(({ input }) => input).join(',')}]`
    const queue = options.queue ?? definition.queue
    const seats = tx ? undefined : ownWorker?.reserve(definition.type, queue, inputs.length)
    if (seats) return enqueueSeated(store, given, common, seats)
    return { ids: await enqueueInputs(store, given, common, { wake, tx }) }
  }
  return { ids: await enqueueJobs(store, `[${members.map(memberText).join(',')}]`, common, { wake, actor, tx }) }
}

async function enqueueSeated(store: Store, inputs: string, common: string, seats: Seats): Promise<Enqueued> {
  let jobs: ClaimedJob[] = []
  try {
    const enqueued = await enqueueHeld(store, inputs, common, seats)
    jobs = enqueued.jobs
    return jobs.length > 0 ? { ids: enqueued.ids, start: () => seats.take(jobs) } : { ids: enqueued.ids }
  } finally {
    if (jobs.length === 0) seats.leave()
  }
}
