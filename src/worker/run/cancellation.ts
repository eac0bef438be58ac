// Tells a run to stop.

import type { HoldfastError } from '../../domain/error/errors.js'

/** Requested at most once, with a reason. The signal is made on first use: most handlers never read it. */
export class Cancellation {
  #controller: AbortController | undefined
  #reason: HoldfastError | undefined
  #end: ((thrown: unknown) => void) | undefined
  #ignoredMs = 0

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

  request(reason: HoldfastError): void {
    if (this.#reason) return
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#countDown()
  }

  throwIfRequested(): void {
    if (this.#reason) throw this.#reason
  }

  /** Ends the run as if its handler had thrown this, whatever the handler still does. */
  cutOff(thrown: unknown): void {
    this.#end?.(thrown)
  }

  /** Settles as `work` does; rejects `ms` after a request that is ignored, or when the run is cut off. */
  limit<T>(work: PromiseLike<T>, ms: number): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject)
      this.enforce(reject, ms)
    })
  }

  /** Calls `end` `ms` after a request, or when the run is cut off, even if the run has ended by then. */
  enforce(end: (thrown: unknown) => void, ms: number): void {
    this.#end = end
    this.#ignoredMs = ms
    if (this.#reason) this.#countDown()
  }

  #countDown(): void {
    const end = this.#end
    if (end) setTimeout(() => end(this.#reason), this.#ignoredMs).unref()
  }
}
