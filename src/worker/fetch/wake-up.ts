// Wakes sleeping queue fetchers when there may be work: on NOTIFY, on an enqueue of this process, or at a set time. A
// notification is a hint that can be missed; the poll is what finds every job.

import { backoffMs } from '../../domain/run/backoff.js'
import type { Listening } from '../../store/connection/listening.js'
import { sleepWorker } from '../../store/jobs/workers.js'
import type { Store } from '../../store/store.js'

export interface WakeUpOptions {
  readonly worker: string
  readonly queues: readonly string[]
  readonly pollMs: number
  /** false: never LISTEN. Undefined: where the connection is found to receive notifications. */
  readonly listen: boolean | undefined
  /** Every queue fetcher sleeps until a wake-up or the next poll. */
  onAsleep(): void
  onFault(doing: string, error: unknown): void
}

// A job that fell due between the last poll and the record that this worker sleeps is found by one more poll.
const POLL_ONCE_MS = [0]
// An enqueue that read the sleeping workers just before this one recorded its sleep commits a moment later.
const POLL_AGAIN_MS = [0, 20, 200]
// Where jobs fall due one right after another, a poll for each of them would occupy the worker.
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
  #isConnecting = false
  #isStopping = false
  #recordedUntil = 0
  #isWokenSincePoll = true
  #recording: Promise<void> | undefined
  #alarm: NodeJS.Timeout | undefined
  #alarmAt = Number.NEGATIVE_INFINITY
  #listenLoop: Promise<void> | undefined
  #endPause: (() => void) | undefined

  constructor(store: Store, options: WakeUpOptions) {
    this.#store = store
    this.#options = options
  }

  start(): void {
    if (this.#options.listen === false) return
    this.#isConnecting = true
    this.#listenLoop = this.#keepListening()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#timers) clearTimeout(timer)
    clearTimeout(this.#alarm)
    this.#endPause?.()
    this.#wakeSleepers()
    await this.#listenLoop
    await this.#recording
  }

  /** Something may have changed: every sleeping queue fetcher polls again. */
  wake(): void {
    this.#isWokenSincePoll = true
    this.#wakeSleepers()
  }

  /** Resolves when there may be work. */
  sleep(): Promise<void> {
    if (this.#isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      this.#sleepers.add(resolve)
      if (this.#isWokenSincePoll) this.#beginRecording()
      else if (this.#isAsleep) this.#options.onAsleep()
    })
  }

  /** No poll is due before the alarm. */
  get #isAsleep(): boolean {
    const isPollDue = this.#timers.size > 0 || this.#recording !== undefined || this.#isConnecting
    return !isPollDue && this.#sleepers.size === this.#options.queues.length
  }

  /** A job has fallen due. */
  #onAlarm(): void {
    this.#alarmAt = performance.now()
    this.wake()
  }

  /** A worker that still sleeps records it first and polls then: one poll is enough. */
  #poll(): void {
    this.#isWokenSincePoll = true
    if (this.#sleepers.size > 0) this.#beginRecording()
  }

  #beginRecording(): void {
    this.#recording ??= this.#recordSleep().finally(() => {
      this.#recording = undefined
    })
  }

  /** Records that this worker sleeps, and sets the alarm for the first job that falls due. */
  async #recordSleep(): Promise<void> {
    this.#isWokenSincePoll = false
    const { worker, queues, onFault } = this.#options
    const isNew = this.#recordedUntil < performance.now()
    // Recorded for longer than the sleep lasts: a worker that sleeps again soon need not record it again.
    const recordedMs = 2 * this.#pollMs()
    try {
      const dueMs = await sleepWorker(this.#store, worker, queues, recordedMs)
      this.#recordedUntil = performance.now() + recordedMs - this.#pollMs()
      for (const ms of isNew ? POLL_AGAIN_MS : POLL_ONCE_MS) this.#after(ms, () => this.#wakeSleepers())
      if (dueMs !== undefined && dueMs < this.#pollMs()) this.#setAlarm(dueMs, () => this.#onAlarm())
      else this.#setAlarm(this.#pollMs(), () => this.#poll())
    } catch (error) {
      onFault('recording that the worker sleeps', error)
      this.#setAlarm(POLL_WITHOUT_LISTEN_MS, () => this.wake())
    }
  }

  #pollMs(): number {
    return this.#listening ? this.#options.pollMs : Math.min(this.#options.pollMs, POLL_WITHOUT_LISTEN_MS)
  }

  #setAlarm(ms: number, onAlarm: () => void): void {
    clearTimeout(this.#alarm)
    if (this.#isStopping) return
    const leastMs = this.#alarmAt + ALARMS_APART_MS - performance.now()
    // Workers that started together do not poll together.
    this.#alarm = setTimeout(onAlarm, Math.max(1, leastMs, ms < 1000 ? ms : ms * (0.9 + 0.1 * Math.random())))
  }

  #after(ms: number, act: () => void): void {
    if (this.#isStopping) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms)
    this.#timers.add(timer)
  }

  #wakeSleepers(): void {
    const sleepers = [...this.#sleepers]
    this.#sleepers.clear()
    for (const resolve of sleepers) resolve()
  }

  /** Listens, checks the connection, and connects again when it is lost: each time with one poll for what was missed. */
  async #keepListening(): Promise<void> {
    for (let tries = 1; !this.#isStopping; tries += 1) {
      let isLost = false
      const lose = () => {
        isLost = true
        this.#endPause?.()
      }
      try {
        const database = await this.#store.open()
        this.#isConnecting = this.#options.listen ?? database.capabilities.listen
        if (!this.#isConnecting) return
        this.#listening = await database.listen(`${this.#store.schema}_wake`, () => this.wake(), lose)
        this.#isConnecting = false
        tries = 1
        this.wake()
        await this.#keepChecking(this.#listening, () => isLost)
      } catch (error) {
        this.#isConnecting = false
        this.#options.onFault('listening; polling continues', error)
      }
      const listening = this.#listening
      this.#listening = undefined
      await listening?.close()
      if (!this.#isStopping) await this.#pause(backoffMs(RECONNECT, tries, Math.random()))
    }
  }

  /** Returns when the connection has failed or no longer receives notifications. */
  async #keepChecking(listening: Listening, isLost: () => boolean): Promise<void> {
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
