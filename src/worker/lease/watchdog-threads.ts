// The threads that stand in. To start one takes as long as thousands of short jobs, so one that was never needed stays for a while,
// for the next worker of its process.

import { Worker as Thread } from 'node:worker_threads'
import type { DatabaseAddress } from '../../store/store.js'

/** What a thread needs to stand in for a worker's keeper. */
export interface WatchdogData extends Pick<DatabaseAddress, 'address'> {
  readonly schema: string
  readonly worker: string
  /** It boots at once and not when it is needed: leases may be too short for that. */
  readonly bootsAtOnce: boolean
  /** The memory of a RenewalClock. */
  readonly watch: SharedArrayBuffer
}

export type FromWatchdog = { readonly kind: 'ready' } | { readonly kind: 'fault'; readonly message: string }

/** What the thread is started with; what it does for the next worker is told by a message, and the bell rung. */
export interface FirstWatchdogData extends WatchdogData {
  /** One word that counts; a thread that waits for a message has no event loop to hear it by. */
  readonly bell: SharedArrayBuffer
}

// As long as idle connections stay.
const SPARE_MS = 60_000
const EVENTS = ['message', 'error', 'exit'] as const

export class WatchdogThreads {
  readonly #file: string
  readonly #spareMs: number
  readonly #bells = new WeakMap<Thread, Int32Array>()
  #spare: Thread | undefined
  #leaving: NodeJS.Timeout | undefined

  /** `spareMs` 0: of a file whose threads serve one worker. */
  constructor(file: string, spareMs = SPARE_MS) {
    this.#file = file
    this.#spareMs = spareMs
  }

  open(data: WatchdogData): Thread {
    return this.#hire(data) ?? this.#start(data)
  }

  /** `isFree`: it watches nobody any more, and does nothing else either. */
  async close(thread: Thread, isFree: boolean): Promise<void> {
    if (!isFree || this.#spareMs === 0 || this.#spare) {
      await thread.terminate()
      return
    }
    for (const event of EVENTS) thread.removeAllListeners(event)
    this.#spare = thread
    this.#leaving = setTimeout(() => void thread.terminate(), this.#spareMs).unref()
    thread.on('error', () => {}).once('exit', () => this.#take())
    thread.unref()
  }

  #hire(data: WatchdogData): Thread | undefined {
    const thread = this.#take()
    const bell = thread && this.#bells.get(thread)
    if (!bell) return undefined
    for (const event of EVENTS) thread.removeAllListeners(event)
    thread.ref()
    thread.postMessage(data)
    Atomics.add(bell, 0, 1)
    Atomics.notify(bell, 0)
    return thread
  }

  #take(): Thread | undefined {
    const thread = this.#spare
    this.#spare = undefined
    clearTimeout(this.#leaving)
    return thread
  }

  #start(data: WatchdogData): Thread {
    const bell = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const thread = new Thread(this.#file, {
      workerData: { ...data, bell } satisfies FirstWatchdogData,
      name: 'holdfast-stand-in',
      execArgv: [], // flags of the program's own start need not fit a thread
    })
    this.#bells.set(thread, new Int32Array(bell))
    return thread
  }
}
