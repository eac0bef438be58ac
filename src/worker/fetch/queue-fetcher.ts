// One queue's share of a worker: keeps its slots busy and a small stock of claimed jobs behind them.

import type { ClaimedJob } from '../../domain/job/job.js'
import { type Batch, type Look, QUEUE_START } from '../../store/jobs/claim.js'
import { Pace } from './pace.js'
import { PrefetchBuffer } from './prefetch-buffer.js'

export interface SlotOwner {
  /** A slot is free again, and was not since `startedAt`. */
  freed(startedAt: number, freedAt: number): void
}

export interface QueueFetcherCalls {
  claim(queue: string, n: number, look: Look): Promise<Batch>
  /** Runs it; `owner` hears when the slot is free again, and not before this returns. Never throws. */
  run(job: ClaimedJob, startedAt: number, owner: SlotOwner): void
  /** Lets others run jobs that were claimed here and not started. */
  giveBack(jobs: readonly ClaimedJob[]): void
  /** Resolves when there may be work: told, asked again, or after a while. */
  sleep(queue: string): Promise<void>
  /** How much of the slots may be used now, 0 to 1. */
  share(): number
  onFault(doing: string, error: unknown): void
}

interface Claimed {
  readonly count: number
  readonly hasMore: boolean
}

// A look from the start at least this often, for retries, late commits and urgent jobs behind the cursor. Where such a look
// is dear, it is taken so seldom that it costs no more than a twentieth of the time.
const SWEEP_MS = 250
const SWEEP_SHARE = 0.05
// Crowds that were passed by are dear to walk through, and nobody knows yet how dear: the look that does so waits for this long.
const AFTER_PASSING_MS = 1000
const LARGEST_CLAIM = 2000
const LARGEST_STOCK = 4000
// Where jobs are large or the database is slow, a claim asks for no more than come within this time, or fill the slots.
const LONGEST_CLAIM_MS = 500
// How much work the stock may hold, in time: twice what a claim takes, since the next is asked for when half of it is used up;
// and little enough to be fair to other workers.
const STOCK_MS = { least: 25, most: 200 }
// A stock of which nothing starts for this long stands behind runs that are longer than those before them.
const STALE_MS = 1000
const AFTER_FAULT_MS = 500
// Short jobs start one another without a break, as long as there are any in stock: the process's other work, and the claims
// and settlements of these very jobs, would wait behind all of them. After this long they get their turn.
const TURN_MS = 1

export class QueueFetcher implements SlotOwner {
  readonly queue: string
  readonly #slots: number
  readonly #operations: QueueFetcherCalls
  readonly #stock = new PrefetchBuffer()
  #running = 0
  #reserved = 0
  #turnEndsAt: number | undefined
  readonly #pace = new Pace()
  #startedAt = 0
  #staleness: NodeJS.Timeout | undefined
  #lastClaim = { ms: 0, jobs: 1 }
  #cursor = QUEUE_START
  #sweptAt = 0
  #sweepEveryMs = SWEEP_MS
  #mustSweep = true
  #isStopping = false
  #isHushed = false
  #isAsleep = false
  #loop: Promise<void> | undefined
  #roomWanted: (() => void) | undefined
  #claiming: Promise<unknown> | undefined

  constructor(queue: string, slots: number, operations: QueueFetcherCalls) {
    this.queue = queue
    this.#slots = slots
    this.#operations = operations
  }

  start(): void {
    this.#loop = this.#fetch()
  }

  /** Claims no more and gives the stock back to the caller; what runs goes on. */
  async stop(): Promise<ClaimedJob[]> {
    this.#isStopping = true
    this.#goOn()
    await this.#loop
    return this.#stock.takeAll()
  }

  /** Starts nothing until resume(), and gives the stock back to the caller; what runs goes on. */
  async hush(): Promise<ClaimedJob[]> {
    this.#isHushed = true
    await this.#claiming
    return this.#stock.takeAll()
  }

  resume(): void {
    this.#isHushed = false
    this.look()
  }

  /** How many jobs it could start at once. */
  free(): number {
    if (this.#isStopping || this.#isHushed) return 0
    return Math.max(0, this.#openSlots() - this.#running - this.#reserved - this.#stock.size)
  }

  /** Keeps slots for jobs that arrive by take(); false where others may be waiting for them. */
  reserve(jobs: number): boolean {
    if (!this.#isAsleep || this.free() < jobs) return false
    this.#reserved += jobs
    return true
  }

  unreserve(jobs: number): void {
    this.#reserved -= jobs
    this.look()
  }

  /** Starts a job that was claimed for it elsewhere; false when it starts nothing any more. */
  take(job: ClaimedJob): boolean {
    if (this.#isStopping || this.#isHushed) return false
    this.#keep([job])
    return true
  }

  freed(startedAt: number, freedAt: number): void {
    this.#running -= 1
    this.#pace.learn(freedAt - startedAt, freedAt)
    this.#fill(freedAt)
    // Most jobs leave too little room, and to go on only to see that would cost each a promise.
    if (this.#roomWanted && this.#room() >= this.#worthAsking()) this.#goOn()
  }

  /** There may be more room than before. */
  look(): void {
    this.#fill()
    this.#goOn()
  }

  async #fetch(): Promise<void> {
    while (!this.#isStopping) {
      const n = this.#room()
      if (n < this.#worthAsking()) {
        await new Promise<void>((resolve) => {
          this.#roomWanted = resolve
        })
        continue
      }
      try {
        const claiming = this.#claim(n)
        this.#claiming = claiming.catch(() => {})
        const { count, hasMore } = await claiming
        if (count < n && !hasMore && !this.#isStopping) {
          this.#isAsleep = true
          await this.#operations.sleep(this.queue)
          this.#isAsleep = false
          this.#mustSweep = true
        }
      } catch (error) {
        this.#operations.onFault(`claiming from ${this.queue}`, error)
        if (!this.#isStopping) await new Promise((resolve) => setTimeout(resolve, AFTER_FAULT_MS))
      }
    }
  }

  #goOn(): void {
    const goOn = this.#roomWanted
    this.#roomWanted = undefined
    goOn?.()
  }

  /**
   * Behind the cursor first; from the start when that is due, or when the rest of the queue was too little. A lane that has just
   * started or slept has nothing to do until the answer comes: its first look passes crowds by, and the next one does not.
   */
  async #claim(n: number): Promise<Claimed> {
    const passesCrowds = this.#mustSweep
    const isSweep = passesCrowds || performance.now() - this.#sweptAt > this.#sweepEveryMs
    const first = await this.#look({ from: isSweep ? QUEUE_START : this.#cursor, passesCrowds }, n)
    if (isSweep || first.count === n || first.hasMore || this.#isStopping) return first
    const second = await this.#look({ from: QUEUE_START, passesCrowds: false }, n - first.count)
    return { count: first.count + second.count, hasMore: second.hasMore }
  }

  /** What it brings starts at once: it waits for no second claim, which may take long. */
  async #look(look: Look, n: number): Promise<Claimed> {
    const askedAt = performance.now()
    const claiming = this.#operations.claim(this.queue, n, look)
    this.#endTurn()
    const { jobs, cursor, hasMore } = await claiming
    const answeredAt = performance.now()
    if (jobs.length > 0) this.#lastClaim = { ms: answeredAt - askedAt, jobs: jobs.length }
    if (look.from === QUEUE_START) {
      this.#mustSweep = false
      this.#sweptAt = answeredAt
      const hasPassedCrowds = look.passesCrowds && hasMore
      this.#sweepEveryMs = Math.max(hasPassedCrowds ? AFTER_PASSING_MS : SWEEP_MS, (answeredAt - askedAt) / SWEEP_SHARE)
    }
    this.#cursor = cursor
    this.#keep(jobs)
    return { count: jobs.length, hasMore }
  }

  #keep(jobs: readonly ClaimedJob[]): void {
    this.#stock.add(jobs)
    this.#fill()
    if (this.#stock.size > 0) this.#watchStock()
  }

  /** Jobs that wait here wait for this worker's slots, whoever else is free: not for long. */
  #watchStock(): void {
    this.#staleness ??= setTimeout(() => {
      this.#staleness = undefined
      if (this.#stock.size === 0) return
      const stoodMs = performance.now() - this.#startedAt
      if (stoodMs < STALE_MS) return this.#watchStock()
      this.#pace.atLeast(stoodMs)
      this.#operations.giveBack(this.#stock.takeAll())
    }, STALE_MS).unref()
  }

  /** `now` where the caller has just asked for it: to ask again would take a short job a twentieth of its time. */
  #fill(now?: number): void {
    let startedAt = now
    for (; this.#canStart(); startedAt = undefined) {
      startedAt ??= performance.now()
      if (this.#isTurnOver(startedAt)) return
      this.#running += 1
      this.#startedAt = startedAt
      this.#operations.run(this.#stock.take(), startedAt, this)
    }
  }

  #canStart(): boolean {
    return this.#stock.size > 0 && this.#running < this.#openSlots() && !this.#isStopping && !this.#isHushed
  }

  /** Of the event loop; the next one goes on with the stock. */
  #isTurnOver(now: number): boolean {
    if (this.#turnEndsAt !== undefined) return now >= this.#turnEndsAt
    this.#turnEndsAt = now + TURN_MS
    setImmediate(() => {
      this.#turnEndsAt = undefined
      this.#fill()
    })
    return false
  }

  /** What was asked leaves the process when nothing more starts. */
  #endTurn(): void {
    if (this.#turnEndsAt !== undefined) this.#turnEndsAt = 0
  }

  #room(): number {
    if (this.#isHushed) return 0
    return Math.min(
      this.#largestClaim(),
      this.#openSlots() - this.#running - this.#reserved + this.#stockWanted() - this.#stock.size,
    )
  }

  /** A busy process opens fewer slots, but never none: jobs must not starve. */
  #openSlots(): number {
    return Math.max(1, Math.floor(this.#slots * this.#operations.share()))
  }

  /** Asking for a few at a time would spend a round trip on each: wait until half the room is free, unless idle slots wait. */
  #worthAsking(): number {
    return this.#stock.size === 0 && this.#running < this.#slots
      ? 1
      : Math.min(this.#largestClaim(), Math.ceil((this.#slots + this.#stockWanted()) / 2))
  }

  #largestClaim(): number {
    const { ms, jobs } = this.#lastClaim
    return Math.max(this.#slots, Math.min(LARGEST_CLAIM, Math.floor((LONGEST_CLAIM_MS * jobs) / ms)))
  }

  #stockWanted(): number {
    const { runMs } = this.#pace
    if (runMs === undefined || this.#operations.share() < 1) return 0
    const stockMs = Math.min(Math.max(STOCK_MS.least, 2 * this.#lastClaim.ms), STOCK_MS.most)
    return Math.min(LARGEST_STOCK, Math.floor((this.#slots * stockMs) / Math.max(runMs, 0.05)))
  }
}
