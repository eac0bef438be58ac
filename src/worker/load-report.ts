// Tells the database now and then how this worker's process fares: whoever decides where jobs are to run needs to know.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Store } from '../store/open.js'
import { reportLoad } from '../store/workers.js'

export interface LoadReportOptions {
  readonly worker: string
  readonly isAlone: boolean
  onFault(doing: string, error: unknown): void
}

const FIRST_MS = 1000
const EVERY_MS = 10_000
// The monitor counts its own interval as delay.
const RESOLUTION_MS = 20

export class LoadReport {
  readonly #store: Store
  readonly #options: LoadReportOptions
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #timer: NodeJS.Timeout | undefined

  constructor(store: Store, options: LoadReportOptions) {
    this.#store = store
    this.#options = options
  }

  start(): void {
    this.#delay.enable()
    this.#schedule(FIRST_MS)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#delay.disable()
  }

  async runOnce(): Promise<void> {
    const { worker, isAlone, onFault } = this.#options
    const loopDelayMs = Math.max(0, this.#delay.percentile(99) / 1e6 - RESOLUTION_MS)
    this.#delay.reset()
    await reportLoad(this.#store, worker, { isAlone, loopDelayMs }).catch((error) => onFault('telling its load', error))
  }

  #schedule(ms: number): void {
    const timer = setTimeout(async () => {
      await this.runOnce()
      if (this.#timer === timer) this.#schedule(EVERY_MS)
    }, ms)
    timer.unref()
    this.#timer = timer
  }
}
