// "There may be work": told by NOTIFY, by this process, or by the clock. Telling is a hint; the poll is the truth.

import { backoffMs } from '../../domain/job/backoff.js'
import type { Listening } from '../../store/connection/listening.js'
import { sleepWorker } from '../../store/jobs/workers.js'
import type { Store } from '../../store/store.js'

export interface WakeUpOptions {
  readonly worker: string
  readonly queues: readonly string[]
  readonly pollMs: number
  /** false: never LISTEN. Undefined: where the database says that it can be heard. */
  readonly listen: boolean | undefined
  onFault(doing: string, error: unknown): void
}

// What fell due between the last look and the word that this worker sleeps is met by one more look.
const LOOK_ONCE_MS = [0]
// An enqueue that looked for sleepers just before this worker said that it sleeps commits a moment later.
const LOOK_AGAIN_MS = [0, 20, 200]
// Where jobs fall due one right after another, a look for each of them would be all that the worker does.
const ALARMS_APART_MS = 10
const CHECK_LISTENING_MS = 10_000
const POLL_WITHOUT_LISTEN_MS = 1000
const RECONNECT = { baseMs: 200, maxMs: 10_000 }

export class WakeUp {
  readonly #store: Store
  readonly #options: WakeUpOptions
  readonly #sleepers = new Set<() => void>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #listening: Listening | undefined
  #isStopping = false
  #announcedUntil = 0
  #heardSinceLook = true
  #announcing: Promise<void> | undefined
  #alarm: NodeJS.Timeout | undefined
  #rangAt = Number.NEGATIVE_INFINITY
  #listenLoop: Promise<void> | undefined
  #endPause: (() => void) | undefined

  constructor(store: Store, options: WakeUpOptions) {
    this.#store = store
    this.#options = options
  }

  start(): void {
    if (this.#options.listen !== false) this.#listenLoop = this.#keepListening()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#timers) clearTimeout(timer)
    clearTimeout(this.#alarm)
    this.#endPause?.()
    this.#resolveSleepers()
    await this.#listenLoop
    await this.#announcing
  }

  /** Something may have changed: every sleeping lane looks again. */
  wake(): void {
    this.#heardSinceLook = true
    this.#resolveSleepers()
  }

  /** Resolves when there may be work. */
  sleep(): Promise<void> {
    if (this.#isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      this.#sleepers.add(resolve)
      this.#beginAnnouncing()
    })
  }

  /** A job has fallen due. */
  #ring(): void {
    this.#rangAt = performance.now()
    this.wake()
  }

  /** Who still sleeps says so first and looks then: one look is enough. */
  #poll(): void {
    this.#heardSinceLook = true
    if (this.#sleepers.size > 0) this.#beginAnnouncing()
  }

  #beginAnnouncing(): void {
    this.#announcing ??= this.#announce().finally(() => {
      this.#announcing = undefined
    })
  }

  /** Says that this worker sleeps, and sets the alarm for the first job that falls due. */
  async #announce(): Promise<void> {
    if (!this.#heardSinceLook) return // the alarm of the last look still stands
    this.#heardSinceLook = false
    const { worker, queues, onFault } = this.#options
    const isNews = this.#announcedUntil < performance.now()
    // Said for longer than it lasts, so that a worker that sleeps again at once need not be waited for.
    const saidMs = 2 * this.#pollMs()
    try {
      const dueMs = await sleepWorker(this.#store, worker, queues, saidMs)
      this.#announcedUntil = performance.now() + saidMs - this.#pollMs()
      for (const ms of isNews ? LOOK_AGAIN_MS : LOOK_ONCE_MS) this.#after(ms, () => this.#resolveSleepers())
      if (dueMs !== undefined && dueMs < this.#pollMs()) this.#setAlarm(dueMs, () => this.#ring())
      else this.#setAlarm(this.#pollMs(), () => this.#poll())
    } catch (error) {
      onFault('saying that it sleeps', error)
      this.#setAlarm(POLL_WITHOUT_LISTEN_MS, () => this.wake())
    }
  }

  #pollMs(): number {
    return this.#listening ? this.#options.pollMs : Math.min(this.#options.pollMs, POLL_WITHOUT_LISTEN_MS)
  }

  #setAlarm(ms: number, ring: () => void): void {
    clearTimeout(this.#alarm)
    if (this.#isStopping) return
    const leastMs = this.#rangAt + ALARMS_APART_MS - performance.now()
    // Workers that started together need not ask together.
    this.#alarm = setTimeout(ring, Math.max(1, leastMs, ms < 1000 ? ms : ms * (0.9 + 0.1 * Math.random())))
  }

  #after(ms: number, act: () => void): void {
    if (this.#isStopping) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms)
    this.#timers.add(timer)
  }

  #resolveSleepers(): void {
    const sleepers = [...this.#sleepers]
    this.#sleepers.clear()
    for (const resolve of sleepers) resolve()
  }

  /** Listens, checks that it still does, and begins anew when it does not: each time with one look at what was missed. */
  async #keepListening(): Promise<void> {
    for (let tries = 1; !this.#isStopping; tries += 1) {
      let isLost = false
      const lose = () => {
        isLost = true
        this.#endPause?.()
      }
      try {
        const database = await this.#store.open()
        if (!(this.#options.listen ?? database.capabilities.listen)) return
        this.#listening = await database.listen(`${this.#store.schema}_wake`, () => this.wake(), lose)
        tries = 1
        this.wake()
        await this.#watch(this.#listening, () => isLost)
      } catch (error) {
        this.#options.onFault('listening; polling goes on', error)
      }
      const listening = this.#listening
      this.#listening = undefined
      await listening?.close()
      if (!this.#isStopping) await this.#pause(backoffMs(RECONNECT, tries, Math.random()))
    }
  }

  /** Returns when the connection has failed or no longer hears its channel. */
  async #watch(listening: Listening, isLost: () => boolean): Promise<void> {
    while (!this.#isStopping && !isLost()) {
      await this.#pause(CHECK_LISTENING_MS)
      if (!this.#isStopping && !isLost() && !(await listening.check())) return
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#endPause?.(), ms)
      this.#endPause = () => {
        clearTimeout(timer)
        this.#endPause = undefined
        resolve()
      }
    })
  }
}
