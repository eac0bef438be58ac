// Measures now and then how this worker's process fares: whoever decides where jobs are to run needs to know.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { WorkerLoad } from '../store/workers.js'

const FIRST_MS = 1000
const EVERY_MS = 10_000
// The monitor counts its own interval as delay.
const RESOLUTION_MS = 20

export class LoadReport {
  readonly #isAlone: boolean
  readonly #tell: (load: WorkerLoad) => void
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #timer: NodeJS.Timeout | undefined

  constructor(isAlone: boolean, tell: (load: WorkerLoad) => void) {
    this.#isAlone = isAlone
    this.#tell = tell
  }

  start(): void {
    this.#delay.enable()
    this.#schedule(FIRST_MS)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#delay.disable()
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      const loopDelayMs = Math.max(0, this.#delay.percentile(99) / 1e6 - RESOLUTION_MS)
      this.#delay.reset()
      this.#tell({ isAlone: this.#isAlone, loopDelayMs })
      this.#schedule(EVERY_MS)
    }, ms)
    this.#timer.unref()
  }
}
