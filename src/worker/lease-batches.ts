// Holds the leases of young claims unread, a claim at a time. Most jobs are over before anyone would have looked at their
// lease; a claim whose jobs have all been dropped is forgotten without being read.

import type { Lease } from '../store/settle.js'
import { type DropMessage, type HoldMessage, heldLeases } from './keeper-messages.js'
import type { TimedLease } from './lease-keeper.js'

interface Batch {
  readonly held: HoldMessage
  readonly dropped: string[]
  left: number
}

/** Leases of one claim, and when it was sent. */
export interface HeldClaim {
  readonly leases: readonly TimedLease[]
  readonly claimedAt: number
}

export class LeaseBatches {
  readonly #batches = new Map<string, Batch>()

  hold(held: HoldMessage): void {
    this.#batches.set(held.leaseId, { held, dropped: [], left: held.count })
  }

  /** Gives back the leases that were read before and must be dropped where they are kept now. */
  drop({ leaseId, count, ids }: DropMessage): Pick<Lease, 'id' | 'leaseId'>[] {
    const batch = this.#batches.get(leaseId)
    if (!batch) return ids.split(',').map((id) => ({ id, leaseId }))
    batch.dropped.push(ids)
    batch.left -= count
    if (batch.left <= 0) this.#batches.delete(leaseId)
    return []
  }

  /** Takes out the claims sent at or before `claimedBefore`, without what was dropped of them. */
  takeOlder(claimedBefore: number): HeldClaim[] {
    const ripe: HeldClaim[] = []
    for (const [leaseId, { held, dropped }] of this.#batches) {
      if (held.claimedAt > claimedBefore) continue
      this.#batches.delete(leaseId)
      const gone = new Set(dropped.flatMap((ids) => ids.split(',')))
      ripe.push({ leases: heldLeases(held).filter(({ id }) => !gone.has(id)), claimedAt: held.claimedAt })
    }
    return ripe
  }
}
