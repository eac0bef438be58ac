// Keeps the leases of what a worker holds, and its beat. Runs in a thread of its own on a server (keeper-thread.ts) and in
// the worker's thread on the embedded database, which has one connection for all.

import type { Lease } from '../store/settle.js'

/** A lease with its length. */
export interface TimedLease extends Lease {
  readonly leaseMs: number
}

export interface KeeperDeeds {
  /** Looks at every lease and extends those that are due; false where another holds the job, or it is over. */
  renew(leases: readonly Lease[]): Promise<boolean[]>
  beat(): Promise<void>
}

export interface KeeperFacts {
  /** The database says that these leases are gone. */
  lost(leases: readonly Lease[]): void
  /** No renewal got through for too long: these may end at any moment. `all`: the keeper itself is gone. */
  overdue(leases: readonly Lease[] | 'all'): void
  /** true when the database answers, false when a lease became overdue because it did not. */
  healthy(isHealthy: boolean): void
  fault(doing: string, error: unknown): void
}

interface Held {
  readonly lease: TimedLease
  renewedAt: number
}

const TICK_MS = 1000
// The last fifth of a lease is for stopping in.
const GIVE_UP_AT = 0.8

/** A clock that all threads of the process share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

export class LeaseKeeper {
  readonly #deeds: KeeperDeeds
  readonly #facts: KeeperFacts
  readonly #held = new Map<string, Held>()
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> | undefined
  #isHealthy = true

  constructor(deeds: KeeperDeeds, facts: KeeperFacts) {
    this.#deeds = deeds
    this.#facts = facts
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#giveUpOverdue()
      this.#ticking ??= this.runOnce().finally(() => {
        this.#ticking = undefined
      })
    }, TICK_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#ticking
  }

  /** `claimedAt` is when the claim was sent, by monotonicMs(): the time it took counts against the lease. */
  hold(leases: readonly TimedLease[], claimedAt: number): void {
    for (const lease of leases) this.#held.set(leaseKey(lease), { lease, renewedAt: claimedAt })
  }

  drop(leases: readonly Lease[]): void {
    for (const lease of leases) this.#held.delete(leaseKey(lease))
  }

  async runOnce(): Promise<void> {
    const sentAt = monotonicMs()
    const held = [...this.#held.values()]
    try {
      await this.#deeds.beat()
      const verdicts = held.length === 0 ? [] : await this.#deeds.renew(held.map(({ lease }) => lease))
      const lost = held.filter((each, i) => {
        if (verdicts[i]) each.renewedAt = sentAt
        return !verdicts[i] && this.#held.delete(leaseKey(each.lease))
      })
      if (lost.length > 0) this.#facts.lost(lost.map(({ lease }) => lease))
      this.#setHealthy(true)
    } catch (error) {
      this.#facts.fault(`renewing ${held.length} leases`, error)
    }
  }

  /** On its own clock: a renewal that hangs must not keep the worker from giving up in time. */
  #giveUpOverdue(): void {
    const now = monotonicMs()
    const overdue = [...this.#held.values()].filter((held) => now - held.renewedAt > held.lease.leaseMs * GIVE_UP_AT)
    if (overdue.length === 0) return
    for (const { lease } of overdue) this.#held.delete(leaseKey(lease))
    this.#facts.overdue(overdue.map(({ lease }) => lease))
    this.#setHealthy(false)
  }

  #setHealthy(isHealthy: boolean): void {
    if (this.#isHealthy === isHealthy) return
    this.#isHealthy = isHealthy
    this.#facts.healthy(isHealthy)
  }
}

/** The same job may be held twice over time, each time under another lease. */
export function leaseKey({ id, leaseId }: Pick<Lease, 'id' | 'leaseId'>): string {
  return `${id} ${leaseId}`
}
