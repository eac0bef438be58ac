// Makes the days of outcome ahead of time, drops those past the retention, and offers parked jobs that nobody would.
// Every worker does it; the database lets one at a time.

import { makeOutcomePartitions, offerParked, pruneJobs } from '../store/jobs/maintenance.js'
import type { Store } from '../store/store.js'

export interface HousekeeperOptions {
  readonly retentionMs: number
  onFault(doing: string, error: unknown): void
}

const EVERY_MS = 60_000
// Pruning is bounded: many small transactions, and never more than this in one round.
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

  // What fails now is tried again in a minute; days are made a week ahead, so there is time.
  async #try(doing: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.onFault(doing, error)
    }
  }
}
