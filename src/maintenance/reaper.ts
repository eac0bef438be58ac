// Reaps the jobs of dead workers and of expired leases, when a heartbeat or the maintenance poll reports that there may be some.
// Every worker reaps, none leads; the database decides who is dead.

import { type Reaped, reapLeases } from '../store/jobs/maintenance.js'
import type { Store } from '../store/store.js'

export interface ReaperOptions {
  onReaped(jobs: readonly Reaped[]): void
  onFault(doing: string, error: unknown): void
}

// A death that may come within this time is waited for; the next heartbeat reports a later one. With the grace, the jobs of a
// dead worker are reaped two and a half seconds after its last heartbeat.
const SOON_MS = 500
// Timers may fire a little early.
const MARGIN_MS = 5
// After an outage the reaper runs by itself until it is sure again which workers live.
const UNSURE_MS = 750
// A round stays short; after a full one the next follows at once.
const BATCH = 100
// A worker that is silent for longer is dead, if the lock of its session is free too.
const GRACE_MS = 2000
// After an outage of the database every worker has been silent: living workers get this long to send a heartbeat.
const AFTER_OUTAGE_MS = 4000
const NO_WORKER_IS_DEAD_MS = 86_400_000

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

  /** A worker may be dead in `inMs`; at 0 or less, now. */
  expect(inMs: number | undefined): void {
    if (inMs !== undefined && inMs <= SOON_MS) this.#runIn(Math.max(0, inMs) + MARGIN_MS)
  }

  /** The database did not answer: other workers may be silent because of the same outage. */
  unanswered(): void {
    this.#answeredSince = undefined
    this.#runIn(UNSURE_MS)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#working
  }

  async runOnce(): Promise<void> {
    try {
      for (;;) {
        const reaped = await reapLeases(this.#store, BATCH, this.#isSure() ? GRACE_MS : NO_WORKER_IS_DEAD_MS)
        this.#answeredSince ??= performance.now()
        if (reaped.length > 0) this.#options.onReaped(reaped)
        if (reaped.length < BATCH || this.#isStopping) return
      }
    } catch (error) {
      // The next round, here or in another worker, finds the same leases.
      this.unanswered()
      this.#options.onFault('reaping', error)
    }
  }

  #isSure(): boolean {
    return this.#answeredSince !== undefined && performance.now() - this.#answeredSince > AFTER_OUTAGE_MS
  }

  /** One round serves all calls before it begins; a later call starts another. */
  #runIn(ms: number): void {
    if (this.#isStopping || this.#timer) return
    this.#timer = setTimeout(async () => {
      await this.#working
      this.#timer = undefined
      if (this.#isStopping) return
      this.#working = this.runOnce().then(() => {
        if (!this.#isSure()) this.#runIn(UNSURE_MS)
      })
    }, ms)
  }
}
