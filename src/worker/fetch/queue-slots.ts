// The slots of one queue and the claimed jobs that wait for them: starts the next job when a slot is free.

import type { ClaimedJob } from '../../domain/job/job.js'
import { PrefetchBuffer } from './prefetch-buffer.js'
import { type PrefetchPolicy, STALE_MS } from './prefetch-policy.js'

export interface QueueSlotCalls {
  /** Runs the job; calls `slot.freed` when the slot is free again, never before this returns. Never throws. */
  start(job: ClaimedJob, startedAt: number, slot: QueueSlots): void
  /** Returns claimed jobs that were never started to the queue. */
  release(jobs: readonly ClaimedJob[]): void
}

export interface QueueSlotOptions {
  readonly queue: string
  readonly count: number
  readonly policy: PrefetchPolicy
  readonly calls: QueueSlotCalls
  /** `share`: how much of the slots may be used now, 0 to 1. */
  readonly load: { readonly share: number }
  readonly listener: { onSlotFree(): void }
}

// Short jobs start one another without a break. After this long the event loop does the process's other work first,
// which includes the claims and settlements of these jobs.
const TURN_MS = 1

export class QueueSlots {
  readonly queue: string
  readonly #count: number
  readonly #policy: PrefetchPolicy
  readonly #calls: QueueSlotCalls
  readonly #load: QueueSlotOptions['load']
  readonly #listener: QueueSlotOptions['listener']
  readonly #waiting = new PrefetchBuffer()
  #running = 0
  #reserved = 0
  #isPaused = false
  #turnEndsAt: number | undefined
  #latestStartAt = 0
  #staleTimer: NodeJS.Timeout | undefined

  constructor({ queue, count, policy, calls, load, listener }: QueueSlotOptions) {
    this.queue = queue
    this.#count = count
    this.#policy = policy
    this.#calls = calls
    this.#load = load
    this.#listener = listener
  }

  /** Slots without a job, running, reserved or waiting; negative while more jobs wait than there are free slots. */
  get unoccupied(): number {
    return this.#usable - this.#running - this.#reserved - this.#waiting.size
  }

  /** A slot has nothing to run, and no job waits. */
  get isStarved(): boolean {
    return this.#waiting.size === 0 && this.#running < this.#count
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** How many jobs could start at once. */
  get free(): number {
    return this.#isPaused ? 0 : Math.max(0, this.unoccupied)
  }

  /** Keeps slots for jobs that arrive by take(). */
  reserve(jobs: number): void {
    this.#reserved += jobs
  }

  unreserve(jobs: number): void {
    this.#reserved -= jobs
    this.fill()
  }

  /** Starts jobs as far as slots are free; the others wait. */
  add(jobs: readonly ClaimedJob[]): void {
    this.#waiting.add(jobs)
    this.fill()
    if (this.#waiting.size > 0) this.#watchStaleness()
  }

  /** The fact that a slot which was taken at `startedAt` is free. */
  freed(startedAt: number, freedAt: number): void {
    this.#running -= 1
    this.#policy.runTook(freedAt - startedAt, freedAt)
    this.fill(freedAt)
    this.#listener.onSlotFree()
  }

  /** Starts no job until resume(); running jobs continue. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.fill()
  }

  /** The jobs that wait, which wait here no longer. */
  takeWaiting(): ClaimedJob[] {
    return this.#waiting.takeAll()
  }

  /** Starts waiting jobs. Callers that have just read the clock pass `now`: a second reading costs a short job 5 %. */
  fill(now?: number): void {
    let startedAt = now
    for (; this.#canStart(); startedAt = undefined) {
      startedAt ??= performance.now()
      if (this.#isTurnOver(startedAt)) return
      this.#running += 1
      this.#latestStartAt = startedAt
      this.#calls.start(this.#waiting.take(), startedAt, this)
    }
  }

  /** Lets the event loop do its other work, such as sending a claim, before the next job starts. */
  endTurn(): void {
    if (this.#turnEndsAt !== undefined) this.#turnEndsAt = 0
  }

  #canStart(): boolean {
    return this.#waiting.size > 0 && this.#running < this.#usable && !this.#isPaused
  }

  #isTurnOver(now: number): boolean {
    if (this.#turnEndsAt !== undefined) return now >= this.#turnEndsAt
    this.#turnEndsAt = now + TURN_MS
    setImmediate(() => {
      this.#turnEndsAt = undefined
      this.fill()
    })
    return false
  }

  /** A busy process uses fewer slots, but at least one: jobs must not starve. */
  get #usable(): number {
    return Math.max(1, Math.floor(this.#count * this.#load.share))
  }

  /** Releases jobs that have waited too long for this worker's slots: another worker may be free. */
  #watchStaleness(): void {
    this.#staleTimer ??= setTimeout(() => {
      this.#staleTimer = undefined
      if (this.#waiting.size === 0) return
      const idleMs = performance.now() - this.#latestStartAt
      if (idleMs < STALE_MS) return this.#watchStaleness()
      this.#policy.runsTakeAtLeast(idleMs)
      this.#calls.release(this.takeWaiting())
    }, STALE_MS).unref()
  }
}
