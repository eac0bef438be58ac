// Keeps the leases of what a worker holds, and its heartbeat, in the worker's own thread. Should that be blocked, another stands in
// for it (stand-in.ts) and tells by the watch what it has renewed.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { Lease } from '../../store/jobs/settle.js'
import type { WorkerLoad } from '../../store/jobs/workers.js'
import { monotonicMs } from '../monotonic.js'
import type { HeldClaim, HeldLeases } from './held-leases.js'
import type { RenewalClock } from './renewal-clock.js'

export interface LeaseRenewerCalls {
  /** Looks at every lease and extends those that are due; false where another holds the job, or it is over. */
  renew(leases: readonly Lease[]): Promise<boolean[]>
  /** Says that the worker lives, with its load if there is one to tell; gives the time until some worker may be dead. */
  heartbeat(load: WorkerLoad | undefined): Promise<number | undefined>
}

export interface LeaseRenewerListener {
  /** The database says that these leases are gone. They are held no longer. */
  lost(jobs: readonly ClaimedJob[]): void
  /** No renewal got through for too long: their leases may end at any moment. They are held no longer. */
  overdue(jobs: readonly ClaimedJob[]): void
  /** true when the database answers, false when a lease became overdue because it did not. */
  healthy(isHealthy: boolean): void
  /** Some worker may be dead in so many milliseconds, or is by now, unless it is heard again. */
  silence(inMs: number): void
  /** A heartbeat did not get through. */
  unanswered(): void
  fault(doing: string, error: unknown): void
}

const LONGEST_TICK_MS = 1000
const SHORTEST_TICK_MS = 200
// The database extends a lease from three tenths of its length on, and none is shorter than a second. A job that has run for
// less is not looked at; one that runs on is looked at every second, to learn early that it was cancelled.
const YOUNG_MS = 300
// A worker that heartbeats every second is not told of: this is half a heartbeat later than it should have been heard.
const SILENCE_SOON_MS = 500
// The last fifth of a lease is for stopping in.
const GIVE_UP_AT = 0.8

export class LeaseRenewer {
  readonly #held: HeldLeases
  readonly #operations: LeaseRenewerCalls
  readonly #facts: LeaseRenewerListener
  readonly #watch: RenewalClock | undefined
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> | undefined
  #shortestLeaseMs = Number.POSITIVE_INFINITY // of all that were ever held
  #tickMs = LONGEST_TICK_MS // a quarter of that, within bounds
  #isHealthy = true
  #load: WorkerLoad | undefined

  constructor(held: HeldLeases, operations: LeaseRenewerCalls, facts: LeaseRenewerListener, watch?: RenewalClock) {
    this.#held = held
    this.#operations = operations
    this.#facts = facts
    this.#watch = watch
  }

  start(): void {
    this.#schedule()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#ticking
  }

  /** More is held than before: a shorter lease than any before must not wait for a tick that was set for longer ones. */
  look(): void {
    const { shortestLeaseMs } = this.#held
    if (shortestLeaseMs >= this.#shortestLeaseMs) return
    this.#shortestLeaseMs = shortestLeaseMs
    this.#watch?.holds(shortestLeaseMs)
    const tickMs = Math.max(SHORTEST_TICK_MS, shortestLeaseMs / 4)
    if (tickMs >= this.#tickMs) return
    this.#tickMs = tickMs
    if (this.#timer) this.#schedule()
  }

  /** Goes out with the next heartbeat. */
  report(load: WorkerLoad): void {
    this.#load = load
  }

  async runOnce(): Promise<void> {
    const sentAt = monotonicMs()
    const due = this.#held.claims.filter((claim) => sentAt - this.#renewedAt(claim) >= YOUNG_MS)
    const jobs = due.flatMap((claim) => [...claim.jobs.values()])
    try {
      await this.#heartbeat()
      const verdicts = jobs.length === 0 ? [] : await this.#operations.renew(jobs)
      for (const claim of due) claim.renewedAt = sentAt
      // One that has ended meanwhile is nobody's loss.
      const lost = jobs.filter((job, i) => !verdicts[i] && this.#held.remove(job))
      if (lost.length > 0) this.#facts.lost(lost)
      this.#watch?.kept(sentAt)
      this.#setHealthy(true)
    } catch (error) {
      this.#facts.fault(`renewing ${jobs.length} leases`, error)
    }
  }

  async #heartbeat(): Promise<void> {
    const load = this.#load
    const silenceInMs = await this.#operations.heartbeat(load).catch((error) => {
      this.#facts.unanswered()
      throw error
    })
    if (this.#load === load) this.#load = undefined
    if (silenceInMs !== undefined && silenceInMs <= SILENCE_SOON_MS) this.#facts.silence(silenceInMs)
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
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
    const overdue = this.#held.claims
      .filter((claim) => now - this.#renewedAt(claim) > this.#shortestLeaseMs * GIVE_UP_AT)
      .flatMap((claim) =>
        [...claim.jobs.values()].filter(({ leaseMs }) => now - this.#renewedAt(claim) > leaseMs * GIVE_UP_AT),
      )
    if (overdue.length === 0) return
    for (const job of overdue) this.#held.remove(job)
    this.#facts.overdue(overdue)
    this.#setHealthy(false)
  }

  /** Whoever stands in renews everything: what was claimed after that has more time left anyway. */
  #renewedAt(claim: HeldClaim): number {
    return Math.max(claim.renewedAt, this.#watch?.renewedAt ?? claim.renewedAt)
  }

  #setHealthy(isHealthy: boolean): void {
    if (this.#isHealthy === isHealthy) return
    this.#isHealthy = isHealthy
    this.#facts.healthy(isHealthy)
  }
}
