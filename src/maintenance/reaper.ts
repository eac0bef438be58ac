// Takes jobs from workers that died or lost their leases. Every worker reaps, none leads; the database decides.

import type { Store } from '../store/open.js'
import { type Reaped, reapLeases } from '../store/upkeep.js'

export interface ReaperOptions {
  onReaped(jobs: readonly Reaped[]): void
  onFault(doing: string, error: unknown): void
}

// With the grace, and once more for the jitter, within the three seconds in which the jobs of a dead worker run elsewhere.
const EVERY_MS = 750
// A round stays short; when it was full the next one follows at once.
const BATCH = 100
// A worker that is silent for longer is dead, if the lock of its session is free too.
const GRACE_MS = 2000
// After an outage of the database everyone has been silent: the living get this long to be heard again.
const AFTER_OUTAGE_MS = 4000
const NOBODY_IS_DEAD_MS = 86_400_000

export class Reaper {
  readonly #store: Store
  readonly #options: ReaperOptions
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #isStopping = false
  #answeredSince: number | undefined = Number.NEGATIVE_INFINITY

  constructor(store: Store, options: ReaperOptions) {
    this.#store = store
    this.#options = options
  }

  start(): void {
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#working
  }

  async runOnce(): Promise<void> {
    try {
      for (;;) {
        const reaped = await reapLeases(this.#store, BATCH, this.#graceMs())
        this.#answeredSince ??= performance.now()
        if (reaped.length > 0) this.#options.onReaped(reaped)
        if (reaped.length < BATCH || this.#isStopping) return
      }
    } catch (error) {
      // The next round, here or in another worker, finds the same leases.
      this.#answeredSince = undefined
      this.#options.onFault('reaping', error)
    }
  }

  #graceMs(): number {
    const isSure = this.#answeredSince !== undefined && performance.now() - this.#answeredSince > AFTER_OUTAGE_MS
    return isSure ? GRACE_MS : NOBODY_IS_DEAD_MS
  }

  // Workers that started together do not ask together.
  #schedule(): void {
    if (this.#isStopping) return
    this.#timer = setTimeout(
      () => {
        this.#working = this.runOnce().finally(() => this.#schedule())
      },
      EVERY_MS * (1 + 0.2 * Math.random()),
    )
  }
}
