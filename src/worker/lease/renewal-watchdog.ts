// Runs the watchdog thread, which renews the leases of a worker whose own thread is blocked by a handler. Until then it only
// reads the renewal clock. A thread that dies is replaced.

import { createRequire } from 'node:module'
import { Worker as Thread } from 'node:worker_threads'
import type { DatabaseAddress } from '../../store/store.js'
import type { RenewalClock } from './renewal-clock.js'

/** What the watchdog thread needs to renew the leases of a worker. */
export interface WatchdogData extends Pick<DatabaseAddress, 'address'> {
  readonly schema: string
  readonly worker: string
  /** It boots at once and not when it is needed: leases may be too short for that. */
  readonly bootsAtOnce: boolean
  /** The memory of a RenewalClock. */
  readonly clock: SharedArrayBuffer
}

export type FromWatchdog = { readonly kind: 'ready' } | { readonly kind: 'fault'; readonly message: string }

export interface WatchdogThread {
  readonly file: string | undefined
  readonly replaceMs: number
}

// The built file, also when this one runs from its source: a thread loads JavaScript only.
const THREAD = { file: createRequire(import.meta.url).resolve('#watchdog-thread'), replaceMs: 1000 }
// To boot takes a thread 100 ms, on a crowded machine much longer.
const STOP_MS = 5000
const DOING = 'renewing leases in the watchdog thread'

export class RenewalWatchdog {
  readonly #data: WatchdogData
  readonly #clock: RenewalClock
  readonly #onFault: (doing: string, error: unknown) => void
  readonly #file: string
  readonly #replaceMs: number
  #thread: Thread | undefined
  #replacing: NodeJS.Timeout | undefined

  constructor(
    data: Omit<WatchdogData, 'clock'>,
    clock: RenewalClock,
    onFault: (doing: string, error: unknown) => void,
    { file = THREAD.file, replaceMs = THREAD.replaceMs }: Partial<WatchdogThread> = {},
  ) {
    this.#data = { ...data, clock: clock.memory }
    this.#clock = clock
    this.#onFault = onFault
    this.#file = file
    this.#replaceMs = replaceMs
  }

  /** Resolves when the worker may claim; rejects when a thread that boots at once dies before it is ready. */
  async start(): Promise<void> {
    const ready = this.#open()
    if (this.#data.bootsAtOnce) await ready
    else ready.catch(() => {})
  }

  /** The thread ends by itself; it is terminated only if it does not. */
  async stop(): Promise<void> {
    clearTimeout(this.#replacing)
    this.#clock.stop()
    const thread = this.#thread
    if (!thread) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    thread.postMessage('stop')
    const timer = setTimeout(() => void thread.terminate(), STOP_MS)
    await ended
    clearTimeout(timer)
  }

  #open(): Promise<void> {
    const thread = new Thread(this.#file, {
      workerData: this.#data,
      name: 'holdfast-renewal-watchdog',
      execArgv: [], // flags of the program's own start need not fit a thread
    })
    this.#thread = thread
    return new Promise((resolve, reject) => {
      thread.on('message', (message: FromWatchdog) => {
        if (message.kind === 'ready') resolve()
        else this.#onFault(DOING, new Error(message.message))
      })
      thread.on('error', (error) => this.#onFault(DOING, error))
      thread.once('exit', (code) => {
        this.#thread = undefined
        reject(new Error(`the thread of the renewal watchdog ended with exit code ${code}`))
        if (!this.#clock.isStopped) this.#replacing = setTimeout(() => this.#open().catch(() => {}), this.#replaceMs)
      })
    })
  }
}
