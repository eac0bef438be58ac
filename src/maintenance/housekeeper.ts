// Creates the partitions of outcomes ahead of time, prunes jobs past the retention, and offers parked jobs whose key is free.
// Every worker does so; the database lets one at a time.

import { makeOutcomePartitions, offerParked, pruneJobs } from '../store/jobs/maintenance.js'
import type { Store } from '../store/store.js'

export interface HousekeeperOptions {
  readonly retentionMs: number
  onFault(doing: string, error: unknown): void
}

const EVERY_MS = 60_000
// Limits one round of pruning, and each of its transactions.
const PRUNE_BATCH = 2000
const PRUNE_ROUNDS = 100

export class Housekeeper {
  readonly #store: Store
  readonly #options: HousekeeperOptions
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined

  constructor(store: Store, options: HousekeeperOptions) {
    this.#store = store
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#working ??= this.runOnce().finally(() => {
        this.#working = undefined
      })
    }, EVERY_MS)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#working
  }

  async runOnce(): Promise<void> {
    await this.#try('offering parked jobs', () => offerParked(this.#store))
    await this.#try('making partitions', () => makeOutcomePartitions(this.#store))
    await this.#try('pruning', async () => {
      for (let round = 0; round < PRUNE_ROUNDS; round += 1) {
        if ((await pruneJobs(this.#store, this.#options.retentionMs, PRUNE_BATCH)) < PRUNE_BATCH) return
      }
    })
  }

  // The next round, a minute later, tries again. Partitions are created a week ahead, so there is time.
  async #try(doing: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.onFault(doing, error)
    }
  }
}
