// Renews the leases that a worker holds and sends its heartbeat, in the worker's own thread. While that thread is blocked, the
// watchdog thread renews them (renewal-watchdog.ts); the two see each other's times in the renewal clock.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { Lease } from '../../store/jobs/settle.js'
import type { WorkerLoad } from '../../store/jobs/workers.js'
import { monotonicMs } from '../monotonic.js'
import type { HeldClaim, HeldLeases } from './held-leases.js'
import type { RenewalClock } from './renewal-clock.js'

export interface LeaseRenewerCalls {
  /** Checks every lease and extends those that are due; false where the lease was lost. */
  renew(leases: readonly Lease[]): Promise<boolean[]>
  /** Sends the heartbeat, with the load if there is a new one; returns the time until some worker may be dead. */
  heartbeat(load: WorkerLoad | undefined): Promise<number | undefined>
}

export interface LeaseRenewerListener {
  /** The database says that these leases are lost. They are held no longer. */
  lost(jobs: readonly ClaimedJob[]): void
  /** No renewal succeeded for so long that these leases may end at any moment. They are held no longer. */
  overdue(jobs: readonly ClaimedJob[]): void
  /** true when the database answers, false when a lease became overdue because it did not. */
  healthy(isHealthy: boolean): void
  /** Some worker may be dead in `inMs` (at 0 or less: now), unless it sends another heartbeat. */
  silence(inMs: number): void
  /** A heartbeat failed. */
  unanswered(): void
  fault(doing: string, error: unknown): void
}

const LONGEST_TICK_MS = 1000
const SHORTEST_TICK_MS = 200
// The database extends a lease when three tenths of it have passed, and no lease is shorter than a second: a younger job needs no
// renewal. An older one is checked every second, so that its handler learns early that it was cancelled.
const YOUNG_MS = 300
// Silence is reported only from half a heartbeat after the next heartbeat was expected.
const SILENCE_SOON_MS = 500
// The last fifth of a lease is the time to stop in.
const GIVE_UP_AT = 0.8

export class LeaseRenewer {
  readonly #held: HeldLeases
  readonly #calls: LeaseRenewerCalls
  readonly #listener: LeaseRenewerListener
  readonly #clock: RenewalClock | undefined
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> | undefined
  #shortestLeaseMs = Number.POSITIVE_INFINITY // of all leases that were ever held
  #tickMs = LONGEST_TICK_MS // a quarter of that, within bounds
  #isHealthy = true
  #load: WorkerLoad | undefined

  constructor(held: HeldLeases, calls: LeaseRenewerCalls, listener: LeaseRenewerListener, clock?: RenewalClock) {
    this.#held = held
    this.#calls = calls
    this.#listener = listener
    this.#clock = clock
  }

  start(): void {
    this.#schedule()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#ticking
  }

  /** More leases are held than before: a shorter one than any before shortens the tick. */
  leasesAdded(): void {
    const { shortestLeaseMs } = this.#held
    if (shortestLeaseMs >= this.#shortestLeaseMs) return
    this.#shortestLeaseMs = shortestLeaseMs
    this.#clock?.setShortestLease(shortestLeaseMs)
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
      const verdicts = jobs.length === 0 ? [] : await this.#calls.renew(jobs)
      for (const claim of due) claim.renewedAt = sentAt
      // A job that was settled meanwhile is not lost.
      const lost = jobs.filter((job, i) => !verdicts[i] && this.#held.remove(job))
      if (lost.length > 0) this.#listener.lost(lost)
      this.#clock?.renewerSucceeded(sentAt)
      this.#setHealthy(true)
    } catch (error) {
      this.#listener.fault(`renewing ${jobs.length} leases`, error)
    }
  }

  async #heartbeat(): Promise<void> {
    const load = this.#load
    const silenceInMs = await this.#calls.heartbeat(load).catch((error) => {
      this.#listener.unanswered()
      throw error
    })
    if (this.#load === load) this.#load = undefined
    if (silenceInMs !== undefined && silenceInMs <= SILENCE_SOON_MS) this.#listener.silence(silenceInMs)
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

  /** Runs on its own timer: a renewal that hangs must not keep the worker from giving up in time. */
  #giveUpOverdue(): void {
    const now = monotonicMs()
    const overdue = this.#held.claims
      .filter((claim) => now - this.#renewedAt(claim) > this.#shortestLeaseMs * GIVE_UP_AT)
      .flatMap((claim) =>
        [...claim.jobs.values()].filter(({ leaseMs }) => now - this.#renewedAt(claim) > leaseMs * GIVE_UP_AT),
      )
    if (overdue.length === 0) return
    for (const job of overdue) this.#held.remove(job)
    this.#listener.overdue(overdue)
    this.#setHealthy(false)
  }

  /** The watchdog renews all leases of the worker; a lease that was claimed after that has more time left anyway. */
  #renewedAt(claim: HeldClaim): number {
    return Math.max(claim.renewedAt, this.#clock?.watchdogRenewedAt ?? claim.renewedAt)
  }

  #setHealthy(isHealthy: boolean): void {
    if (this.#isHealthy === isHealthy) return
    this.#isHealthy = isHealthy
    this.#listener.healthy(isHealthy)
  }
}
