// Runs jobs that two workers died with, one at a time and with nothing beside them: if this worker dies too, the culprit is
// known, and no bystander is blamed.

import type { ClaimedJob } from '../domain/job.js'

export interface SuspectDeeds {
  claim(): Promise<ClaimedJob | undefined>
  run(job: ClaimedJob): Promise<void>
  /** true when nothing else runs here, and nothing will until reopen(); false when that took too long. */
  clear(): Promise<boolean>
  giveBack(job: ClaimedJob): void
  reopen(): void
  onFault(doing: string, error: unknown): void
}

// Suspects are rare and a worker must be emptied for one; nobody waits for them to the second.
const LOOK_MS = 5000
// But a worker that ran many jobs when it died leaves many suspects: after one that ran, the next follows soon.
const NEXT_MS = 200

export class SuspectRoom {
  readonly #deeds: SuspectDeeds
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #isStopping = false

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

  /** Takes one suspect through, if there is one; true when it ran. */
  async runOnce(): Promise<boolean> {
    const { claim, run, clear, giveBack, reopen, onFault } = this.#deeds
    try {
      // Held from here on: no other worker empties itself for the same job.
      const job = await claim()
      if (!job) return false
      try {
        const isClear = await clear()
        if (isClear) await run(job)
        else giveBack(job)
        return isClear
      } finally {
        reopen()
      }
    } catch (error) {
      onFault('running a suspect alone', error)
      return false
    }
  }

  #schedule(lookMs = LOOK_MS): void {
    if (this.#isStopping) return
    this.#timer = setTimeout(
      () => {
        this.#working = this.runOnce().then((hasRun) => this.#schedule(hasRun ? NEXT_MS : LOOK_MS))
      },
      lookMs * (1 + 0.2 * Math.random()),
    )
  }
}
