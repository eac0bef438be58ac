// Runs jobs that two workers died with, one at a time and with nothing beside them: if this worker dies too, the culprit is
// known, and no bystander is blamed.

import type { ClaimedJob } from '../domain/job.js'

export interface SuspectDeeds {
  claim(): Promise<ClaimedJob | undefined>
  run(job: ClaimedJob): Promise<void>
  /** true when nothing else runs here, and nothing will until reopen(); false when that took longer than `ms`. */
  clear(ms: number): Promise<boolean>
  giveBack(job: ClaimedJob): void
  reopen(): void
  onFault(doing: string, error: unknown): void
}

// Suspects are rare and a worker must be emptied for one; nobody waits for them to the second.
const LOOK_MS = 5000
// But a worker that ran many jobs when it died leaves many suspects: after one that ran, the next follows soon.
const NEXT_MS = 200
// How long a worker starts nothing new in order to become empty. In vain, it does its work for six times as long and is then
// more patient: long jobs must neither be held up for a suspect nor keep it waiting for ever.
const PATIENCE_MS = { first: 10_000, most: 600_000 }
const WORK_BETWEEN = 6

export class SuspectRoom {
  readonly #deeds: SuspectDeeds
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #isStopping = false
  #patienceMs = PATIENCE_MS.first

  constructor(deeds: SuspectDeeds) {
    this.#deeds = deeds
  }

  start(): void {
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#working
  }

  /** Takes one suspect through, if there is one; gives the time until the next look. */
  async runOnce(): Promise<number> {
    const { claim, run, clear, giveBack, reopen, onFault } = this.#deeds
    try {
      // Held from here on: no other worker empties itself for the same job.
      const job = await claim()
      if (!job) return LOOK_MS
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
      return LOOK_MS
    }
  }

  #growPatient(): number {
    const wasMs = this.#patienceMs
    this.#patienceMs = Math.min(wasMs * 2, PATIENCE_MS.most)
    return wasMs * WORK_BETWEEN
  }

  #schedule(lookMs = LOOK_MS): void {
    if (this.#isStopping) return
    this.#timer = setTimeout(
      () => {
        this.#working = this.runOnce().then((lookMs) => this.#schedule(lookMs))
      },
      lookMs * (1 + 0.2 * Math.random()),
    )
  }
}
