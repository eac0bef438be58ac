// Runs quarantined jobs one at a time and with nothing beside them: if this worker dies too, the job that caused it is known.

import type { ClaimedJob } from '../../domain/job/job.js'

export interface QuarantineCalls {
  claim(): Promise<ClaimedJob | undefined>
  run(job: ClaimedJob): Promise<void>
  /** true when nothing else runs here, and nothing will until reopen(); false when that took longer than `ms`. */
  clear(ms: number): Promise<boolean>
  release(job: ClaimedJob): void
  reopen(): void
  onFault(doing: string, error: unknown): void
}

// A worker that died with many running jobs leaves many in quarantine: the next follows soon after one that ran.
const NEXT_MS = 200
// A job that could not be claimed belongs to another worker, or its queue is paused.
const REST_MS = 5000
// How long a worker starts nothing new in order to become empty. If it does not, it works normally for six times as long
// and then waits longer: long jobs must neither be held up for a quarantined job nor keep it waiting for ever.
const CLEAR_MS = { first: 10_000, most: 600_000 }
const WORK_BETWEEN = 6

export class Quarantine {
  readonly #calls: QuarantineCalls
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #restsUntil = 0
  #isStopping = false
  #clearMs = CLEAR_MS.first

  constructor(calls: QuarantineCalls) {
    this.#calls = calls
  }

  /** A job may be in quarantine: claims it now, unless a rest or a run of one is under way. */
  expect(): void {
    if (this.#isStopping || this.#working || performance.now() < this.#restsUntil) return
    this.#working = this.runOnce().then((restMs) => {
      this.#working = undefined
      if (restMs !== NEXT_MS) this.#restsUntil = performance.now() + restMs
      else if (!this.#isStopping) this.#timer = setTimeout(() => this.expect(), restMs)
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#working
  }

  /** Runs one quarantined job, if there is one; returns how long to rest before the next. */
  async runOnce(): Promise<number> {
    const { claim, run, clear, release, reopen, onFault } = this.#calls
    try {
      // The lease keeps other workers from emptying themselves for the same job.
      const job = await claim()
      if (!job) return REST_MS
      try {
        if (!(await clear(this.#clearMs))) {
          release(job)
          return this.#waitLonger()
        }
        this.#clearMs = CLEAR_MS.first
        await run(job)
        return NEXT_MS
      } finally {
        reopen()
      }
    } catch (error) {
      onFault('running a quarantined job alone', error)
      return REST_MS
    }
  }

  #waitLonger(): number {
    const clearedMs = this.#clearMs
    this.#clearMs = Math.min(clearedMs * 2, CLEAR_MS.most)
    return clearedMs * WORK_BETWEEN
  }
}
