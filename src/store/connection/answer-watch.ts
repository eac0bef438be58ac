// Gives up on answers that do not come, so that a line that has gone dead holds nobody for ever. One timer for all of them: to
// set one for each question and take it back would cost a fiftieth of an enqueue.

const LOOK_MS = 500

/** Told that the time is over. */
type GiveUp = (error: Error) => void

interface Wait {
  readonly giveUp: GiveUp
  readonly ms: number
  looksLeft: number
}

export class AnswerWatch {
  /** An array and not a Map, which would keep what was answered alive until the next full collection. */
  readonly #waiting: Wait[] = []
  #timer: NodeJS.Timeout | undefined
  #wasAsked = false

  /**
   * Waits for `ms` and a little longer. Counts looks instead of asking the clock: in a process that was blocked the time would be
   * over before the answer is read, which came long ago.
   */
  begin(giveUp: GiveUp, ms: number): void {
    this.#wasAsked = true
    this.#waiting.push({ giveUp, ms, looksLeft: Math.ceil(ms / LOOK_MS) })
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
  }

  end(giveUp: GiveUp): void {
    const place = this.#waiting.findIndex((wait) => wait.giveUp === giveUp)
    if (place !== -1) this.#waiting.splice(place, 1)
  }

  /** Rejects when the answer has not come in time; what is asked goes on. */
  inTime<T>(asked: Promise<T>, ms: number): Promise<T> {
    return new Promise((resolve, reject) => {
      this.begin(reject, ms)
      asked.then(resolve, reject).finally(() => this.end(reject))
    })
  }

  #look(): void {
    for (const wait of [...this.#waiting]) {
      wait.looksLeft -= 1
      if (wait.looksLeft >= 0) continue
      this.end(wait.giveUp)
      wait.giveUp(new Error(`timeout: no answer within ${wait.ms} ms`))
    }
    // Who asks now and then keeps it: to start it anew for each would be what it saves.
    if (!this.#wasAsked && this.#waiting.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    this.#wasAsked = false
  }
}
