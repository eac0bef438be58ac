// Tells now and then how this worker's process fares: whoever decides where jobs are to run needs to know.

import type { WorkerLoad } from '../../store/jobs/workers.js'
import type { LoopDelay } from './loop-delay.js'

const EVERY_LOOKS = 10

export class LoadReport {
  readonly #isAlone: boolean
  readonly #tell: (load: WorkerLoad) => void
  #looks = 0

  constructor(isAlone: boolean, tell: (load: WorkerLoad) => void) {
    this.#isAlone = isAlone
    this.#tell = tell
  }

  /** Tells at the first look of a second and at every tenth after it. */
  look(delay: LoopDelay): void {
    if (this.#looks % EVERY_LOOKS === 0) {
      this.#tell({ isAlone: this.#isAlone, loopDelayMs: delay.percentile(99, EVERY_LOOKS) })
    }
    this.#looks += 1
  }
}
