// The one connection that the callers of this process keep while they ask now and then: who enqueues, and a pipeline between two
// steps. Its session has the plans of what they ask, no upkeep occupies it, and to fetch it from the pool and give it back would
// take a tenth of an enqueue's time.

import type pg from 'pg'

// Then it goes back to the pool, which hands it out next: where calls are rare, its plans serve them from there.
const QUIET_MS = 5000

export class CallersConnection {
  readonly #pool: pg.Pool
  #client: pg.PoolClient | undefined
  #isTaken = false
  #usedAt = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** undefined: ask the pool. Others than callers get it only where the pool has nothing left. */
  take(isCaller: boolean): pg.PoolClient | undefined {
    if (this.#client === undefined || this.#isTaken || !(isCaller || isExhausted(this.#pool))) return undefined
    this.#isTaken = true
    if (isCaller) this.#usedAt = performance.now()
    return this.#client
  }

  /** false where the connection must go back to the pool. Where others wait in the pool, none is kept from them. */
  putBack(client: pg.PoolClient, failure: Error | undefined, isCaller: boolean): boolean {
    const isWanted = failure === undefined && !this.#isClosed && this.#pool.waitingCount === 0
    if (client === this.#client) {
      this.#isTaken = false
      if (!isWanted) this.#forget()
      return isWanted
    }
    if (!isWanted || !isCaller || this.#client || this.#pool.options.max < 2) return false
    this.#client = client
    this.#usedAt = performance.now()
    client.on('error', this.#fail)
    this.#watch(QUIET_MS)
    return true
  }

  close(): void {
    this.#isClosed = true
    if (!this.#isTaken) this.#forget()?.release()
  }

  // Who has it hears of it too.
  readonly #fail = (error: Error): void => {
    if (!this.#isTaken) this.#forget()?.release(error)
  }

  #forget(): pg.PoolClient | undefined {
    const client = this.#client
    this.#client = undefined
    clearTimeout(this.#timer)
    client?.off('error', this.#fail)
    return client
  }

  #watch(ms: number): void {
    this.#timer = setTimeout(() => {
      const quietMs = performance.now() - this.#usedAt
      if (this.#isTaken) this.#watch(QUIET_MS)
      else if (quietMs < QUIET_MS) this.#watch(QUIET_MS - quietMs)
      else this.#forget()?.release()
    }, ms)
    this.#timer.unref()
  }
}

/** Whoever asks now would have to wait for another. */
function isExhausted(pool: pg.Pool): boolean {
  return pool.idleCount <= pool.waitingCount && pool.totalCount >= pool.options.max
}
