// Takes jobs from workers that died or lost their leases. Every worker reaps, none leads; the database decides.

import type { Store } from '../store/open.js'
import { type Reaped, reapLeases } from '../store/upkeep.js'

export interface ReaperOptions {
  onReaped(jobs: readonly Reaped[]): void
  onFault(doing: string, error: unknown): void
}

const EVERY_MS = 1000
// A round stays short; when it was full the next one follows at once.
const BATCH = 100

export class Reaper {
  readonly #store: Store
  readonly #options: ReaperOptions
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #isStopping = false

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
        const reaped = await reapLeases(this.#store, BATCH)
        if (reaped.length > 0) this.#options.onReaped(reaped)
        if (reaped.length < BATCH || this.#isStopping) return
      }
    } catch (error) {
      // The next round, here or in another worker, finds the same leases.
      this.#options.onFault('reaping', error)
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
  }
}
