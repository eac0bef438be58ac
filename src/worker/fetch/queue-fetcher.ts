// Decides when a worker claims jobs of one queue, how many, and from which position.

import type { ClaimedJob } from '../../domain/job/job.js'
import { type Cursor, QUEUE_START } from '../../store/jobs/claim.js'
import { PrefetchPolicy } from './prefetch-policy.js'
import { type QueueSlotCalls, QueueSlots } from './queue-slots.js'

/** What a claim found. */
export interface Claimed {
  readonly count: number
  /** Where the next claim may continue. */
  readonly cursor: Cursor
  readonly hasMore: boolean
}

export interface QueueFetcherParts {
  /** Claims up to `n` jobs and adds them to the slots. */
  readonly claimer: { claim(slots: QueueSlots, n: number, from: Cursor): Promise<Claimed> }
  readonly jobs: QueueSlotCalls
  /** sleep() resolves when there may be work. */
  readonly wakeUp: { sleep(): Promise<void> }
  /** `share`: how much of the slots may be used now, 0 to 1. */
  readonly load: { readonly share: number }
  onFault(doing: string, error: unknown): void
}

// A sweep at least this often finds retries, late commits and urgent jobs before the cursor. An expensive sweep is repeated so
// seldom that sweeps take no more than a twentieth of the time.
const SWEEP_MS = 250
const SWEEP_SHARE = 0.05
const AFTER_FAULT_MS = 500

export class QueueFetcher {
  readonly slots: QueueSlots
  readonly #count: number
  readonly #parts: QueueFetcherParts
  readonly #policy: PrefetchPolicy
  #cursor = QUEUE_START
  #sweptAt = 0
  #sweepEveryMs = SWEEP_MS
  #mustSweep = true
  #isStopping = false
  #isAsleep = false
  #loop: Promise<void> | undefined
  #resume: (() => void) | undefined
  #claiming: Promise<unknown> | undefined

  constructor(queue: string, count: number, parts: QueueFetcherParts) {
    this.#count = count
    this.#parts = parts
    this.#policy = new PrefetchPolicy(count)
    const { jobs: calls, load } = parts
    this.slots = new QueueSlots({ queue, count, policy: this.#policy, calls, load, listener: this })
  }

  start(): void {
    this.#loop = this.#fetch()
  }

  /** Claims no more and returns the jobs that wait for a slot; running jobs continue. */
  async stop(): Promise<ClaimedJob[]> {
    this.#isStopping = true
    this.slots.pause()
    this.#wake()
    await this.#loop
    return this.slots.takeWaiting()
  }

  /** Starts nothing until resume(), and returns the jobs that wait for a slot; running jobs continue. */
  async pause(): Promise<ClaimedJob[]> {
    this.slots.pause()
    await this.#claiming
    return this.slots.takeWaiting()
  }

  resume(): void {
    if (this.#isStopping) return
    this.slots.resume()
    this.#wake()
  }

  /** More slots may be usable than before. */
  onMoreRoom(): void {
    this.slots.fill()
    this.#wake()
  }

  /** Keeps slots for jobs that arrive by take(); false while a claim may be filling them. */
  reserve(jobs: number): boolean {
    if (!this.#isAsleep || this.slots.free < jobs) return false
    this.slots.reserve(jobs)
    return true
  }

  unreserve(jobs: number): void {
    this.slots.unreserve(jobs)
    this.#wake()
  }

  /** Starts a job that was claimed elsewhere for this queue; false while it starts none. */
  take(job: ClaimedJob): boolean {
    if (this.slots.isPaused) return false
    this.slots.add([job])
    return true
  }

  /** Avoids one wasted wake-up per finished job: most free too little room for a claim. */
  onSlotFree(): void {
    if (this.#resume && this.#room() >= this.#worthClaiming()) this.#wake()
  }

  async #fetch(): Promise<void> {
    while (!this.#isStopping) {
      const n = this.#room()
      if (n < this.#worthClaiming()) {
        await new Promise<void>((resolve) => {
          this.#resume = resolve
        })
        continue
      }
      try {
        const claiming = this.#claim(n)
        this.#claiming = claiming.catch(() => {})
        const { count, hasMore } = await claiming
        if (count < n && !hasMore && !this.#isStopping) {
          this.#isAsleep = true
          await this.#parts.wakeUp.sleep()
          this.#isAsleep = false
          this.#mustSweep = true
        }
      } catch (error) {
        this.#parts.onFault(`claiming from ${this.slots.queue}`, error)
        if (!this.#isStopping) await new Promise((resolve) => setTimeout(resolve, AFTER_FAULT_MS))
      }
    }
  }

  #wake(): void {
    const resume = this.#resume
    this.#resume = undefined
    resume?.()
  }

  /** Polls behind the cursor; sweeps when a sweep is due or the rest of the queue gave too few jobs. */
  async #claim(n: number): Promise<Omit<Claimed, 'cursor'>> {
    const isSweep = this.#mustSweep || performance.now() - this.#sweptAt > this.#sweepEveryMs
    const first = await this.#poll(isSweep ? QUEUE_START : this.#cursor, n)
    if (isSweep || first.count === n || first.hasMore || this.#isStopping) return first
    const second = await this.#poll(QUEUE_START, n - first.count)
    return { count: first.count + second.count, hasMore: second.hasMore }
  }

  async #poll(from: Cursor, n: number): Promise<Claimed> {
    const sentAt = performance.now()
    const claiming = this.#parts.claimer.claim(this.slots, n, from)
    this.slots.endTurn()
    const claimed = await claiming
    const answeredAt = performance.now()
    this.#policy.claimTook(answeredAt - sentAt, claimed.count)
    if (from === QUEUE_START) {
      this.#mustSweep = false
      this.#sweptAt = answeredAt
      this.#sweepEveryMs = Math.max(SWEEP_MS, (answeredAt - sentAt) / SWEEP_SHARE)
    }
    this.#cursor = claimed.cursor
    return claimed
  }

  #room(): number {
    if (this.slots.isPaused) return 0
    return Math.min(this.#policy.largestClaim, this.slots.unoccupied + this.#bufferSize())
  }

  /** Claiming a few jobs at a time costs a round trip each: waits until half the room is free, unless a slot is starved. */
  #worthClaiming(): number {
    return this.slots.isStarved
      ? 1
      : Math.min(this.#policy.largestClaim, Math.ceil((this.#count + this.#bufferSize()) / 2))
  }

  #bufferSize(): number {
    return this.#parts.load.share < 1 ? 0 : this.#policy.bufferSize
  }
}
