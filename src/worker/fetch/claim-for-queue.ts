// Claims jobs of one queue: waits while leases cannot be renewed, sends the claim, and passes its jobs on.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { WorkerDescription } from '../../domain/operate/worker-views.js'
import type { EventHub } from '../../observe/events.js'
import { type Cursor, claimBatch } from '../../store/jobs/claim.js'
import type { Store } from '../../store/store.js'
import { monotonicMs } from '../monotonic.js'
import type { Claimed } from './queue-fetcher.js'
import type { QueueSlots } from './queue-slots.js'
import type { UnacknowledgedClaims } from './unacknowledged-claims.js'

export interface ClaimForQueueParts {
  readonly store: Store
  readonly events: EventHub
  readonly row: WorkerDescription
  readonly claims: UnacknowledgedClaims
  /** Resolves when leases can be renewed. */
  mayClaim(): Promise<void>
  /** Registers the leases; resolves when the jobs may start. */
  accept(jobs: readonly ClaimedJob[], claimedAt: number): Promise<void> | undefined
}

/** A class, not closures made for each worker: the engine reuses what it has compiled for an earlier worker of the process. */
export class ClaimForQueue {
  readonly #parts: ClaimForQueueParts

  constructor(parts: ClaimForQueueParts) {
    this.#parts = parts
  }

  async claim(slots: QueueSlots, n: number, from: Cursor): Promise<Claimed> {
    const { store, events, row, claims, mayClaim, accept } = this.#parts
    await mayClaim()
    const claimedAt = monotonicMs()
    const { id: worker, types } = row
    const { queue } = slots
    const { jobs, cursor, hasMore } = await claims.claim((leaseId) =>
      claimBatch(store, { worker, queue, types, n, leaseId, from }),
    )
    events.emit('worker.claimed', { worker, queue, jobs: jobs.length, ms: monotonicMs() - claimedAt })
    await accept(jobs, claimedAt)
    slots.add(jobs)
    return { count: jobs.length, cursor, hasMore }
  }
}
