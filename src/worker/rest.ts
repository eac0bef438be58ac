// A rest that one thread takes and another can end, in memory that both share.

// RESTING also before it begins: then it is over at once when the other has ended it.
const [RESTING, WOKEN, DISMISSED] = [0, 1, 2]

export class Rest {
  readonly memory: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#state = new Int32Array(memory)
  }

  /** Blocks the thread for so long, or until it is ended. false: there is nothing to get up for. */
  take(ms: number): boolean {
    Atomics.wait(this.#state, 0, RESTING, ms)
    return Atomics.load(this.#state, 0) !== DISMISSED
  }

  wake(): void {
    this.#end(WOKEN)
  }

  dismiss(): void {
    this.#end(DISMISSED)
  }

  #end(state: number): void {
    Atomics.store(this.#state, 0, state)
    Atomics.notify(this.#state, 0)
  }
}
