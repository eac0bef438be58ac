// Limits how long calls wait for an answer on a dead connection. All calls share one timer: a timer per call would cost 2 % of
// an enqueue.

import { AnswerTimeout } from './connection-faults.js'

const TICK_MS = 500

/** Called when the time is over. */
type GiveUp = (error: Error) => void

interface Wait {
  readonly giveUp: GiveUp
  readonly ms: number
  ticksLeft: number
}

export class AnswerWatch {
  /** Not a Map: that keeps removed entries alive until the next full garbage collection. */
  readonly #waiting: Wait[] = []
  #timer: NodeJS.Timeout | undefined
  #wasUsed = false
  readonly #tickMs: number

  constructor(tickMs = TICK_MS) {
    this.#tickMs = tickMs
  }

  /**
   * Calls `giveUp` after `ms` or up to a tick later. Counts ticks instead of reading the clock: after the process was blocked,
   * the clock would say that the time is over, although the answer only waits to be read.
   */
  begin(giveUp: GiveUp, ms: number): void {
    this.#wasUsed = true
    this.#waiting.push({ giveUp, ms, ticksLeft: Math.ceil(ms / this.#tickMs) })
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref()
  }

  end(giveUp: GiveUp): void {
    const place = this.#waiting.findIndex((wait) => wait.giveUp === giveUp)
    if (place !== -1) this.#waiting.splice(place, 1)
  }

  /** Rejects when the answer does not come in time; the call itself goes on. */
  inTime<T>(asked: Promise<T>, ms: number): Promise<T> {
    return new Promise((resolve, reject) => {
      this.begin(reject, ms)
      asked.then(resolve, reject).finally(() => this.end(reject))
    })
  }

  #tick(): void {
    for (const wait of [...this.#waiting]) {
      wait.ticksLeft -= 1
      if (wait.ticksLeft >= 0) continue
      this.end(wait.giveUp)
      wait.giveUp(new AnswerTimeout(wait.ms))
    }
    // The timer runs on between calls in quick succession, and ends after a tick without any.
    if (!this.#wasUsed && this.#waiting.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    this.#wasUsed = false
  }
}
