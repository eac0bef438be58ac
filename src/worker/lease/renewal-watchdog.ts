// Stands in for a keeper that is late, because a handler blocks the thread that both share: a thread of its own, which only
// watches for as long as the keeper keeps. One that dies is replaced.

import { createRequire } from 'node:module'
import type { Worker as Thread } from 'node:worker_threads'
import type { RenewalClock } from './renewal-clock.js'
import { type FromWatchdog, type WatchdogData, WatchdogThreads } from './watchdog-threads.js'

// The built file, also when this one runs from its source: a thread loads JavaScript only.
const THREADS = new WatchdogThreads(createRequire(import.meta.url).resolve('#watchdog-thread'))
const REPLACE_MS = 1000

export class RenewalWatchdog {
  readonly #data: Omit<WatchdogData, 'watch'>
  readonly #watch: RenewalClock
  readonly #onFault: (doing: string, error: unknown) => void
  readonly #threads: WatchdogThreads
  #thread: Thread | undefined
  #replacing: NodeJS.Timeout | undefined

  constructor(
    data: Omit<WatchdogData, 'watch'>,
    watch: RenewalClock,
    onFault: (doing: string, error: unknown) => void,
    threads = THREADS,
  ) {
    this.#data = data
    this.#watch = watch
    this.#onFault = onFault
    this.#threads = threads
  }

  /** Resolves when the worker may claim; rejects when a thread that boots at once dies before it is there. */
  async start(): Promise<void> {
    const ready = this.#open()
    if (this.#data.bootsAtOnce) await ready
    else ready.catch(() => {})
  }

  async stop(): Promise<void> {
    clearTimeout(this.#replacing)
    const isFree = this.#watch.dismiss()
    const thread = this.#thread
    this.#thread = undefined // it may be another worker's by the next stop
    if (thread) await this.#threads.close(thread, isFree)
  }

  #open(): Promise<void> {
    const thread = this.#threads.open({ ...this.#data, watch: this.#watch.memory })
    this.#thread = thread
    return new Promise((resolve, reject) => {
      thread.on('message', (told: FromWatchdog) => {
        if (told.kind === 'ready') resolve()
        else this.#onFault('standing in for the keeper', new Error(told.message))
      })
      thread.on('error', (error) => this.#onFault('standing in for the keeper', error))
      thread.once('exit', (code) => {
        this.#thread = undefined
        reject(new Error(`the thread that stands in for the keeper ended with ${code}`))
        if (!this.#watch.isDismissed) this.#replacing = setTimeout(() => this.#open().catch(() => {}), REPLACE_MS)
      })
    })
  }
}
