// Counts finished jobs into the statistics per minute. Every worker does so; the database lets one at a time.

import { rollStats } from '../store/reads/statistics.js'
import type { Store } from '../store/store.js'

export interface StatisticsCounterOptions {
  onFault(doing: string, error: unknown): void
}

// The statistics may be this old. A worker that has just started counts only after this time.
const COUNT_EVERY_MS = 5000
// Limits how long one call works after a time without counting.
const MOST_ROUNDS = 20

export class StatisticsCounter {
  readonly #store: Store
  readonly #options: StatisticsCounterOptions
  #working: Promise<void> | undefined
  #countedAt = performance.now()
  #isStopping = false

  constructor(store: Store, options: StatisticsCounterOptions) {
    this.#store = store
    this.#options = options
  }

  /** `hasStats`: there are jobs to count. Counts them unless it does so already, or has done so lately. */
  expect(hasStats: boolean): void {
    if (!hasStats || this.#isStopping || this.#working) return
    if (performance.now() - this.#countedAt < COUNT_EVERY_MS) return
    this.#countedAt = performance.now()
    this.#working = this.runOnce().finally(() => {
      this.#working = undefined
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#working
  }

  async runOnce(): Promise<void> {
    try {
      for (let round = 0; round < MOST_ROUNDS && !this.#isStopping; round += 1) {
        if (!(await rollStats(this.#store))) return
      }
    } catch (error) {
      // The next poll, here or in another worker, finds the same jobs to count.
      this.#options.onFault('counting finished jobs', error)
    }
  }
}
