// Connections of the pool that stay with whom they serve, one each while it asks now and then: callers (who enqueues, and a
// pipeline between two steps) and claims. Such a session has the plans of what is asked of it, no upkeep occupies it, and to
// fetch it from the pool and give it back would take a tenth of an enqueue's time.

import type pg from 'pg'

export type KeptFor = 'callers' | 'claims'

// Then it goes back to the pool, which hands it out next: where questions are rare, its plans serve them from there.
const QUIET_MS = 5000

export class KeptConnections {
  readonly #pool: pg.Pool
  readonly #kept: Record<KeptFor, KeptConnection>

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.#kept = { callers: new KeptConnection(pool), claims: new KeptConnection(pool) }
  }

  /** undefined: ask the pool. What is kept for another is had only where the pool has nothing left. */
  take(whose: KeptFor | undefined): pg.PoolClient | undefined {
    const own = whose && this.#kept[whose].take()
    if (own || !isExhausted(this.#pool)) return own
    for (const kept of this.#all()) {
      const client = kept.lend()
      if (client) return client
    }
    return undefined
  }

  /** false where the connection must go back to the pool. Where others wait in the pool, none is kept from them. */
  putBack(client: pg.PoolClient, failure: Error | undefined, whose: KeptFor | undefined): boolean {
    const kept = this.#all().find((each) => each.has(client)) ?? (whose && this.#kept[whose])
    return kept?.putBack(client, failure) ?? false
  }

  close(): void {
    for (const kept of this.#all()) kept.close()
  }

  #all(): KeptConnection[] {
    return [this.#kept.callers, this.#kept.claims]
  }
}

class KeptConnection {
  readonly #pool: pg.Pool
  #client: pg.PoolClient | undefined
  #isTaken = false
  #usedAt = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  has(client: pg.PoolClient): boolean {
    return client === this.#client
  }

  take(): pg.PoolClient | undefined {
    const client = this.lend()
    if (client) this.#usedAt = performance.now()
    return client
  }

  /** To another than the one it is kept for. */
  lend(): pg.PoolClient | undefined {
    if (this.#isTaken) return undefined
    this.#isTaken = this.#client !== undefined
    return this.#client
  }

  putBack(client: pg.PoolClient, failure: Error | undefined): boolean {
    const isWanted = failure === undefined && !this.#isClosed && this.#pool.waitingCount === 0
    if (this.has(client)) {
      this.#isTaken = false
      if (!isWanted) this.#forget()
      return isWanted
    }
    if (!isWanted || this.#client || this.#pool.options.max < 2) return false
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
