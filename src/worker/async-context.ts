// The asynchronous context in which a worker was started, as AsyncLocalStorage sees it. A start may be triggered from another
// context, such as the request that enqueued the job: the handler must not see that one.

import { AsyncResource } from 'node:async_hooks'

export class AsyncContext {
  readonly #origin = new AsyncResource('HoldfastWorker')

  /** Changes that `work` makes to the context end with it. */
  enter(work: () => void): void {
    this.#origin.runInAsyncScope(() => new AsyncResource('HoldfastStart').runInAsyncScope(work))
  }
}
