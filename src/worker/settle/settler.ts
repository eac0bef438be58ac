// Writes outcomes to the database in batches of what is ready, without waiting to fill one. A failed write is repeated; it is
// never counted as a failure of the handler.

import type { ClaimedJob } from '../../domain/job/job.js'
import { backoffMs } from '../../domain/run/backoff.js'
import type { Outcome } from '../../domain/run/outcome.js'
import { isPassing } from '../../store/connection/translate-error.js'
import { isPlain, type Settlement } from '../../store/jobs/settle.js'

/** A run that has ended. */
export interface EndedRun {
  readonly job: ClaimedJob
  readonly outcome: Outcome
  readonly ms: number
  /** Called when the outcome is settled. */
  readonly done: (() => void) | undefined
}

export interface SettlerListener {
  /** `isWritten` is false when the lease was lost, and when the write was given up, which the reaper repairs. */
  onSettled(ended: EndedRun, isWritten: boolean): void
  onFault(doing: string, error: unknown): void
}

export interface Writer {
  /** Per member: false where the lease was lost. All members are plain completions, or none is. */
  write(batch: readonly Settlement<Outcome>[]): Promise<boolean[]>
}

// Large enough to make the share of a round trip small, small enough to keep each transaction short.
const LARGEST_BATCH = 2000
// Above this many unwritten outcomes slots are not freed.
const MOST_WAITING = 4000
const RETRY = { baseMs: 50, maxMs: 2000 }

export class Settler {
  readonly #writer: Writer
  readonly #listener: SettlerListener
  #waiting: EndedRun[] = []
  #writing: readonly EndedRun[] = []
  #flushing: Promise<void> | undefined
  #caughtUp: Promise<void> | undefined
  #resolveCaughtUp = () => {}
  #isGivingUp = false
  #isStopping = false
  #isClosed = false
  readonly #awaited = new Map<ClaimedJob, () => void>()

  constructor(writer: Writer, listener: SettlerListener) {
    this.#writer = writer
    this.#listener = listener
  }

  push(ended: EndedRun): void {
    if (this.#isClosed) ended.done?.()
    else if (ended.outcome.kind === 'lost') this.#settled(ended, false)
    else {
      this.#waiting.push(ended)
      this.#flushing ??= this.#flush()
    }
  }

  /** undefined, or a promise to wait for while too many outcomes are unwritten. */
  backlog(): Promise<void> | undefined {
    if (this.#waiting.length <= MOST_WAITING) return undefined
    this.#caughtUp ??= new Promise((resolve) => {
      this.#resolveCaughtUp = resolve
    })
    return this.#caughtUp
  }

  /** undefined, or a promise to wait for while outcomes of these jobs are unwritten. */
  whenSettled(jobs: readonly ClaimedJob[]): Promise<unknown> | undefined {
    const unwritten = this.#isStopping ? [] : jobs.filter((job) => this.#isUnwritten(job))
    if (unwritten.length === 0) return undefined
    return Promise.all(unwritten.map((job) => this.#settlementOf(job)))
  }

  /** Resolves what whenSettled() returned: the worker is stopping. */
  stopWaiting(): void {
    this.#isStopping = true
    for (const resolve of this.#awaited.values()) resolve()
  }

  /** Waits until all outcomes are written. With `giveUp`, failed writes are not repeated any more. */
  async drain({ giveUp = false } = {}): Promise<void> {
    this.#isGivingUp = giveUp
    while (this.#flushing) await this.#flushing
  }

  /** Outcomes that come later are dropped: their jobs were released. */
  close(): void {
    this.#isClosed = true
  }

  async #flush(): Promise<void> {
    // Outcomes of the same turn of the event loop go together.
    await Promise.resolve()
    try {
      while (this.#waiting.length > 0) {
        this.#writing = this.#waiting.splice(0, LARGEST_BATCH)
        if (this.#waiting.length <= MOST_WAITING) this.#endBacklog()
        await this.#write(this.#writing.filter(isPlain))
        await this.#write(this.#writing.filter((ended) => !isPlain(ended)))
      }
    } finally {
      this.#writing = []
      // Without an await since the last check: the next push must start a new flush.
      this.#flushing = undefined
    }
  }

  #endBacklog(): void {
    this.#resolveCaughtUp()
    this.#caughtUp = undefined
  }

  async #write(batch: EndedRun[]): Promise<void> {
    if (batch.length === 0) return
    for (let tries = 1; ; tries += 1) {
      try {
        const verdicts = await this.#writer.write(batch)
        for (let i = 0; i < batch.length; i += 1) this.#settled(batch[i] as EndedRun, verdicts[i] ?? false)
        return
      } catch (error) {
        this.#listener.onFault(`settling ${batch.length} jobs`, error)
        if (this.#isGivingUp || (batch.length === 1 && !isPassing(error))) {
          for (const ended of batch) this.#settled(ended, false)
          return
        }
        if (!isPassing(error)) return await this.#writeApart(batch)
        await new Promise((resolve) => setTimeout(resolve, backoffMs(RETRY, tries, Math.random())))
      }
    }
  }

  /** One outcome that cannot be written must not keep the others from being written. */
  async #writeApart(batch: EndedRun[]): Promise<void> {
    for (const ended of batch) await this.#write([ended])
  }

  #isUnwritten(job: ClaimedJob): boolean {
    return [this.#waiting, this.#writing].some((batch) => batch.some((ended) => ended.job === job))
  }

  #settlementOf(job: ClaimedJob): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.set(job, () => {
        this.#awaited.delete(job)
        resolve()
      })
    })
  }

  #settled(ended: EndedRun, isWritten: boolean): void {
    this.#listener.onSettled(ended, isWritten)
    ended.done?.()
    if (this.#awaited.size > 0) this.#awaited.get(ended.job)?.()
  }
}
