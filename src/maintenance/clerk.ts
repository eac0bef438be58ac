// Works off bulk operations and keeps the figures by the minute. Every worker does it; the database lets one at a time.

import { workBulk } from '../store/bulk.js'
import type { Store } from '../store/open.js'
import { rollStats } from '../store/stats.js'

export interface ClerkOptions {
  onFault(doing: string, error: unknown): void
}

// A bulk operation begins within this and then goes on without a pause; figures may be as old.
const EVERY_MS = 5000
// One step is one transaction: short enough that no claim waits for long, and that a cancellation is heard soon.
const BULK_STEP = 100
// Figures that have fallen behind are caught up with in bounded rounds.
const ROLLS = 20

export class Clerk {
  readonly #store: Store
  readonly #options: ClerkOptions
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #isStopping = false

  constructor(store: Store, options: ClerkOptions) {
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
    await this.#try('working off a bulk operation', () => this.workBulk())
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

  // Workers that started together do not ask together.
  #schedule(): void {
    if (this.#isStopping) return
    this.#timer = setTimeout(
      () => {
        this.#working = this.runOnce().finally(() => this.#schedule())
      },
      EVERY_MS * (1 + 0.2 * Math.random()),
    )
    this.#timer.unref()
  }
}
