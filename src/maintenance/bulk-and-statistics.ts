// Works off bulk operations and keeps the statistics by the minute, when told that there is something to do. Every worker does
// it; the database lets one at a time.

import { workBulk } from '../store/jobs/bulk-operations.js'
import type { DueMaintenance } from '../store/jobs/maintenance.js'
import { rollStats } from '../store/reads/statistics.js'
import type { Store } from '../store/store.js'

export interface ClerkOptions {
  onFault(doing: string, error: unknown): void
}

// Statistics may be as old as this, and a worker that has just started has better things to do; a bulk operation goes on without a
// pause.
const COUNT_EVERY_MS = 5000
// One step is one transaction: short enough that no claim waits for long, and that a cancellation is heard soon.
const BULK_STEP = 100
// Statistics that have fallen behind are caught up with in bounded rounds.
const ROLLS = 20

export class Clerk {
  readonly #store: Store
  readonly #options: ClerkOptions
  #working: Promise<void> | undefined
  #countedAt = performance.now()
  #isStopping = false

  constructor(store: Store, options: ClerkOptions) {
    this.#store = store
    this.#options = options
  }

  /** Does what is due, unless it is at it. */
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
    if (hasBulk) await this.#try('working off a bulk operation', () => this.workBulk())
    if (!hasStats || performance.now() - this.#countedAt < COUNT_EVERY_MS) return
    this.#countedAt = performance.now()
    await this.#try('counting what has ended', () => this.rollStats())
  }

  /** Until nothing is open, or others are at it. */
  async workBulk(): Promise<void> {
    while (!this.#isStopping && (await workBulk(this.#store, BULK_STEP)));
  }

  async rollStats(): Promise<void> {
    for (let round = 0; round < ROLLS && !this.#isStopping; round += 1) {
      if (!(await rollStats(this.#store))) return
    }
  }

  // What fails now is tried again in some seconds, here or in another worker.
  async #try(doing: string, work: () => Promise<unknown>): Promise<void> {
    if (this.#isStopping) return
    try {
      await work()
    } catch (error) {
      this.#options.onFault(doing, error)
    }
  }
}
