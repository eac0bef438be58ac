// Stands in for a keeper that is late, because a handler blocks the thread that both share: a thread of its own, which only
// watches for as long as the keeper keeps. One that dies is replaced.

import { createRequire } from 'node:module'
import { Worker as Thread } from 'node:worker_threads'
import type { DatabaseAddress } from '../store/open.js'
import type { KeeperWatch } from './keeper-watch.js'

/** What the thread is started with. */
export interface StandInData extends Pick<DatabaseAddress, 'address'> {
  readonly schema: string
  readonly worker: string
  /** It boots at once and not when it is needed: leases may be too short for that. */
  readonly bootsAtOnce: boolean
  /** The memory of a KeeperWatch. */
  readonly watch: SharedArrayBuffer
}

export type FromStandIn = { readonly kind: 'ready' } | { readonly kind: 'fault'; readonly message: string }

// The built file, also when this one runs from its source: a thread loads JavaScript only.
const THREAD_FILE = createRequire(import.meta.url).resolve('#stand-in-thread')
const REPLACE_MS = 1000

export class StandIn {
  readonly #data: Omit<StandInData, 'watch'>
  readonly #watch: KeeperWatch
  readonly #onFault: (doing: string, error: unknown) => void
  readonly #file: string
  #thread: Thread | undefined
  #replacing: NodeJS.Timeout | undefined

  constructor(
    data: Omit<StandInData, 'watch'>,
    watch: KeeperWatch,
    onFault: (doing: string, error: unknown) => void,
    file = THREAD_FILE,
  ) {
    this.#data = data
    this.#watch = watch
    this.#onFault = onFault
    this.#file = file
  }

  /** Resolves when the worker may claim; rejects when a thread that boots at once dies before it is there. */
  async start(): Promise<void> {
    const ready = this.#open()
    if (this.#data.bootsAtOnce) await ready
    else ready.catch(() => {})
  }

  async stop(): Promise<void> {
    clearTimeout(this.#replacing)
    this.#watch.dismiss()
    await this.#thread?.terminate()
  }

  #open(): Promise<void> {
    const thread = new Thread(this.#file, {
      workerData: { ...this.#data, watch: this.#watch.memory } satisfies StandInData,
      name: 'holdfast-stand-in',
      execArgv: [], // flags of the program's own start need not fit a thread
    })
    this.#thread = thread
    return new Promise((resolve, reject) => {
      thread.on('message', (told: FromStandIn) => {
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
