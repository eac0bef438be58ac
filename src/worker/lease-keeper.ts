// Keeps the leases of what a worker holds, and its beat. Runs in a thread of its own on a server (keeper-at-work.ts) and in
// the worker's thread on the embedded database, which has one connection for all.

import type { JobId } from '../domain/job.js'
import type { Lease } from '../store/settle.js'
import type { WorkerLoad } from '../store/workers.js'

/** A lease with its length. */
export interface TimedLease extends Lease {
  readonly leaseMs: number
}

export interface KeeperDeeds {
  /** Looks at every lease and extends those that are due; false where another holds the job, or it is over. */
  renew(leases: readonly Lease[]): Promise<boolean[]>
  /** Says that the worker lives, with its load if there is one to tell; gives the time until some worker may be dead. */
  beat(load: WorkerLoad | undefined): Promise<number | undefined>
}

export interface KeeperFacts {
  /** The database says that these leases are gone. */
  lost(leases: readonly Lease[]): void
  /** No renewal got through for too long: these may end at any moment. `all`: the keeper itself is gone. */
  overdue(leases: readonly Lease[] | 'all'): void
  /** true when the database answers, false when a lease became overdue because it did not. */
  healthy(isHealthy: boolean): void
  /** Some worker may be dead in so many milliseconds, or is by now, unless it is heard again. */
  silence(inMs: number): void
  /** A beat did not get through. */
  unanswered(): void
  fault(doing: string, error: unknown): void
}

interface Held {
  readonly lease: TimedLease
  renewedAt: number
}

const LONGEST_TICK_MS = 1000
const SHORTEST_TICK_MS = 200
// The database extends a lease from three tenths of its length on. A job that has run for less is not looked at; one that
// runs on is looked at every second, to learn early that it was cancelled.
const RENEW_AT = 0.3
// A worker that beats every second is not told of: this is half a beat later than it should have been heard.
const SILENCE_SOON_MS = 500
// The last fifth of a lease is for stopping in.
const GIVE_UP_AT = 0.8

/** A clock that all threads of the process share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

export class LeaseKeeper {
  readonly #deeds: KeeperDeeds
  readonly #facts: KeeperFacts
  readonly #held = new Map<JobId, Held>()
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> | undefined
  #before = () => {}
  #tickMs = LONGEST_TICK_MS // a quarter of the shortest lease that was ever held, within bounds
  #isHealthy = true
  #load: WorkerLoad | undefined

  constructor(deeds: KeeperDeeds, facts: KeeperFacts) {
    this.#deeds = deeds
    this.#facts = facts
  }

  /** `before` runs ahead of each tick. */
  start(before: () => void = () => {}): void {
    this.#before = before
    this.#schedule()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#ticking
  }

  /** `claimedAt` is when the claim was sent, by monotonicMs(): the time it took counts against the lease. */
  hold(leases: readonly TimedLease[], claimedAt: number): void {
    let shortest = this.#tickMs * 4
    for (const lease of leases) {
      this.#held.set(lease.id, { lease, renewedAt: claimedAt })
      shortest = Math.min(shortest, lease.leaseMs)
    }
    // A shorter lease than any before must not wait for a tick that was set for longer ones.
    if (shortest / 4 < this.#tickMs && this.#tickMs > SHORTEST_TICK_MS) {
      this.#tickMs = Math.max(SHORTEST_TICK_MS, shortest / 4)
      if (this.#timer) this.#schedule()
    }
  }

  /** The same job may be held again already, under another lease: that one stays. */
  drop({ id, leaseId }: Pick<Lease, 'id' | 'leaseId'>): void {
    if (this.#held.get(id)?.lease.leaseId === leaseId) this.#held.delete(id)
  }

  /** Goes out with the next beat. */
  report(load: WorkerLoad): void {
    this.#load = load
  }

  async runOnce(): Promise<void> {
    const sentAt = monotonicMs()
    const due = [...this.#held.values()].filter(
      ({ lease, renewedAt }) => sentAt - renewedAt >= Math.min(LONGEST_TICK_MS, lease.leaseMs) * RENEW_AT,
    )
    try {
      await this.#beat()
      const verdicts = due.length === 0 ? [] : await this.#deeds.renew(due.map(({ lease }) => lease))
      const lost: Lease[] = []
      for (const [i, held] of due.entries()) {
        if (verdicts[i]) held.renewedAt = sentAt
        else if (this.#held.get(held.lease.id) === held && this.#held.delete(held.lease.id)) lost.push(held.lease)
      }
      if (lost.length > 0) this.#facts.lost(lost)
      this.#setHealthy(true)
    } catch (error) {
      this.#facts.fault(`renewing ${due.length} leases`, error)
    }
  }

  async #beat(): Promise<void> {
    const load = this.#load
    const silenceInMs = await this.#deeds.beat(load).catch((error) => {
      this.#facts.unanswered()
      throw error
    })
    if (this.#load === load) this.#load = undefined
    if (silenceInMs !== undefined && silenceInMs <= SILENCE_SOON_MS) this.#facts.silence(silenceInMs)
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#before()
      this.#giveUpOverdue()
      this.#ticking ??= this.runOnce().finally(() => {
        this.#ticking = undefined
      })
      this.#schedule()
    }, this.#tickMs)
  }

  /** On its own clock: a renewal that hangs must not keep the worker from giving up in time. */
  #giveUpOverdue(): void {
    const now = monotonicMs()
    const overdue = [...this.#held.values()].filter((held) => now - held.renewedAt > held.lease.leaseMs * GIVE_UP_AT)
    if (overdue.length === 0) return
    for (const { lease } of overdue) this.#held.delete(lease.id)
    this.#facts.overdue(overdue.map(({ lease }) => lease))
    this.#setHealthy(false)
  }

  #setHealthy(isHealthy: boolean): void {
    if (this.#isHealthy === isHealthy) return
    this.#isHealthy = isHealthy
    this.#facts.healthy(isHealthy)
  }
}
