// The asynchronous context that a worker was made in, as AsyncLocalStorage knows it. What starts a job there may come from
// elsewhere, the request that enqueued it or the driver's socket, and its handler is to see nothing of that.

import { AsyncResource } from 'node:async_hooks'

export class AsyncContext {
  readonly #origin = new AsyncResource('HoldfastWorker')

  /** What `work` changes in the context is gone with it. */
  enter(work: () => void): void {
    this.#origin.runInAsyncScope(() => new AsyncResource('HoldfastStart').runInAsyncScope(work))
  }
}
