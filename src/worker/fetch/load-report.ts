// Reports the load of this worker's process now and then, for operators who decide where jobs run.

import type { WorkerLoad } from '../../store/jobs/workers.js'
import type { LoopDelay } from './loop-delay.js'

const EVERY_MEASUREMENTS = 10

export class LoadReport {
  readonly #isAlone: boolean
  readonly #report: (load: WorkerLoad) => void
  #measurements = 0

  constructor(isAlone: boolean, report: (load: WorkerLoad) => void) {
    this.#isAlone = isAlone
    this.#report = report
  }

  /** Called once a second; reports the first measurement and every tenth after it. */
  measured(delay: LoopDelay): void {
    if (this.#measurements % EVERY_MEASUREMENTS === 0) {
      this.#report({ isAlone: this.#isAlone, loopDelayMs: delay.percentile(99, EVERY_MEASUREMENTS) })
    }
    this.#measurements += 1
  }
}
