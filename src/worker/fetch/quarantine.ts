// Runs jobs that two workers died with, one at a time and with nothing beside them: if this worker dies too, the culprit is
// known, and no bystander is blamed.

import type { ClaimedJob } from '../../domain/job/job.js'

export interface QuarantineCalls {
  claim(): Promise<ClaimedJob | undefined>
  run(job: ClaimedJob): Promise<void>
  /** true when nothing else runs here, and nothing will until reopen(); false when that took longer than `ms`. */
  clear(ms: number): Promise<boolean>
  giveBack(job: ClaimedJob): void
  reopen(): void
  onFault(doing: string, error: unknown): void
}

// A worker that ran many jobs when it died leaves many suspects: after one that ran, the next follows soon.
const NEXT_MS = 200
// One that could not be claimed is another worker's, or its queue is paused.
const REST_MS = 5000
// How long a worker starts nothing new in order to become empty. In vain, it does its work for six times as long and is then
// more patient: long jobs must neither be held up for a suspect nor keep it waiting for ever.
const PATIENCE_MS = { first: 10_000, most: 600_000 }
const WORK_BETWEEN = 6

export class Quarantine {
  readonly #operations: QuarantineCalls
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #restsUntil = 0
  #isStopping = false
  #patienceMs = PATIENCE_MS.first

  constructor(operations: QuarantineCalls) {
    this.#operations = operations
  }

  /** There may be a suspect: looks for it now, unless it rests or is at one. */
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

  /** Takes one suspect through, if there is one; gives the time to rest before the next. */
  async runOnce(): Promise<number> {
    const { claim, run, clear, giveBack, reopen, onFault } = this.#operations
    try {
      // Held from here on: no other worker empties itself for the same job.
      const job = await claim()
      if (!job) return REST_MS
      try {
        if (!(await clear(this.#patienceMs))) {
          giveBack(job)
          return this.#growPatient()
        }
        this.#patienceMs = PATIENCE_MS.first
        await run(job)
        return NEXT_MS
      } finally {
        reopen()
      }
    } catch (error) {
      onFault('running a suspect alone', error)
      return REST_MS
    }
  }

  #growPatient(): number {
    const wasMs = this.#patienceMs
    this.#patienceMs = Math.min(wasMs * 2, PATIENCE_MS.most)
    return wasMs * WORK_BETWEEN
  }
}
