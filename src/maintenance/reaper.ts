// Takes jobs from workers that died or lost their leases, when told that there may be some. Every worker reaps, none leads;
// the database decides.

import { type Reaped, reapLeases } from '../store/jobs/maintenance.js'
import type { Store } from '../store/store.js'

export interface ReaperOptions {
  onReaped(jobs: readonly Reaped[]): void
  onFault(doing: string, error: unknown): void
}

// What will be lost within this is waited for; of what comes later the next word tells. The heartbeat has a word every second, so
// with the grace the jobs of a dead worker are taken two and a half seconds after its last heartbeat, and run within three.
const SOON_MS = 500
// Timers are a little early now and then.
const MARGIN_MS = 5
// After an outage nobody need tell, until it is sure again who lives.
const UNSURE_MS = 750
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

  /** A lease may be lost in so many milliseconds, or is by now. */
  expect(inMs: number | undefined): void {
    if (inMs !== undefined && inMs <= SOON_MS) this.#runIn(Math.max(0, inMs) + MARGIN_MS)
  }

  /** The database did not answer: whoever is silent now may only have met the same outage. */
  doubt(): void {
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
        const reaped = await reapLeases(this.#store, BATCH, this.#isSure() ? GRACE_MS : NOBODY_IS_DEAD_MS)
        this.#answeredSince ??= performance.now()
        if (reaped.length > 0) this.#options.onReaped(reaped)
        if (reaped.length < BATCH || this.#isStopping) return
      }
    } catch (error) {
      // The next round, here or in another worker, finds the same leases.
      this.doubt()
      this.#options.onFault('reaping', error)
    }
  }

  #isSure(): boolean {
    return this.#answeredSince !== undefined && performance.now() - this.#answeredSince > AFTER_OUTAGE_MS
  }

  /** One round is enough for all who ask before it begins; who asks later gets another. */
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
