// Works on bulk operations step by step. Every worker does so; the database lets one at a time.

import { workBulk } from '../store/jobs/bulk-operations.js'
import type { Store } from '../store/store.js'

export interface BulkWorkerOptions {
  onFault(doing: string, error: unknown): void
}

// One step is one transaction: short enough that claims do not wait for it, and that a cancellation takes effect soon.
const JOBS_PER_STEP = 100

export class BulkWorker {
  readonly #store: Store
  readonly #options: BulkWorkerOptions
  #working: Promise<void> | undefined
  #isStopping = false

  constructor(store: Store, options: BulkWorkerOptions) {
    this.#store = store
    this.#options = options
  }

  /** `hasBulk`: an operation is open. Works on it unless it does so already. */
  expect(hasBulk: boolean): void {
    if (!hasBulk || this.#isStopping) return
    this.#working ??= this.runOnce().finally(() => {
      this.#working = undefined
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#working
  }

  /** Until no operation is open, or another worker works on it. */
  async runOnce(): Promise<void> {
    try {
      while (!this.#isStopping && (await workBulk(this.#store, JOBS_PER_STEP)));
    } catch (error) {
      // The next poll, here or in another worker, finds the same operation.
      this.#options.onFault('working on a bulk operation', error)
    }
  }
}
