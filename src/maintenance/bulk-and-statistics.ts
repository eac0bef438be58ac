// Works on bulk operations and adds finished minutes to the statistics, when the maintenance poll finds that this is due. Every
// worker tries; the database lets one at a time.

import { workBulk } from '../store/jobs/bulk-operations.js'
import type { DueMaintenance } from '../store/jobs/maintenance.js'
import { rollStats } from '../store/reads/statistics.js'
import type { Store } from '../store/store.js'

export interface BulkAndStatisticsOptions {
  onFault(doing: string, error: unknown): void
}

// Statistics may be this old, and a worker that has just started claims jobs first. A bulk operation continues without a pause.
const COUNT_EVERY_MS = 5000
// One step is one transaction: short enough that no claim waits for long, and that a cancellation takes effect soon.
const BULK_STEP = 100
// Statistics that are far behind are brought up to date in bounded rounds.
const ROLLS = 20

export class BulkAndStatistics {
  readonly #store: Store
  readonly #options: BulkAndStatisticsOptions
  #working: Promise<void> | undefined
  #countedAt = performance.now()
  #isStopping = false

  constructor(store: Store, options: BulkAndStatisticsOptions) {
    this.#store = store
    this.#options = options
  }

  /** Does what is due, unless it is already working. */
  expect({ hasBulk, hasStats }: Pick<DueMaintenance, 'hasBulk' | 'hasStats'>): void {
    if (this.#isStopping || this.#working) return
    this.#working = this.#work(hasBulk, hasStats).finally(() => {
      this.#working = undefined
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#working
  }

  async #work(hasBulk: boolean, hasStats: boolean): Promise<void> {
    if (hasBulk) await this.#try('working on a bulk operation', () => this.workBulk())
    if (!hasStats || performance.now() - this.#countedAt < COUNT_EVERY_MS) return
    this.#countedAt = performance.now()
    await this.#try('rolling up statistics', () => this.rollStats())
  }

  /** Works until no bulk operation is open, or another worker has it. */
  async workBulk(): Promise<void> {
    while (!this.#isStopping && (await workBulk(this.#store, BULK_STEP)));
  }

  async rollStats(): Promise<void> {
    for (let round = 0; round < ROLLS && !this.#isStopping; round += 1) {
      if (!(await rollStats(this.#store))) return
    }
  }

  // A failed step is tried again in a few seconds, here or in another worker.
  async #try(doing: string, work: () => Promise<unknown>): Promise<void> {
    if (this.#isStopping) return
    try {
      await work()
    } catch (error) {
      this.#options.onFault(doing, error)
    }
  }
}
