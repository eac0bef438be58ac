// The word that tells a run to stop.

import type { HoldfastError } from '../../domain/error/errors.js'

/** Says "stop" once, with a reason. Its signal is made when somebody asks for it: most handlers never do. */
export class Cancellation {
  #controller: AbortController | undefined
  #reason: HoldfastError | undefined
  #end: ((thrown: unknown) => void) | undefined
  #patienceMs = 0

  get reason(): HoldfastError | undefined {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  say(reason: HoldfastError): void {
    if (this.#reason) return
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#countDown()
  }

  throwIfSaid(): void {
    if (this.#reason) throw this.#reason
  }

  /** Ends the run as if its handler had thrown this, whatever the handler still does. */
  cutOff(thrown: unknown): void {
    this.#end?.(thrown)
  }

  /** As `work` ends; or rejects `ms` after the word, for handlers that ignore it, or when the run is cut off. */
  heeded<T>(work: PromiseLike<T>, ms: number): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject)
      this.enforce(reject, ms)
    })
  }

  /** From now on `end` is called `ms` after the word, or when the run is cut off; it must bear to be called too late. */
  enforce(end: (thrown: unknown) => void, ms: number): void {
    this.#end = end
    this.#patienceMs = ms
    if (this.#reason) this.#countDown()
  }

  #countDown(): void {
    const end = this.#end
    if (end) setTimeout(() => end(this.#reason), this.#patienceMs).unref()
  }
}
