// Hands out the connections of a pool, and takes them back sound or not at all.

import type pg from 'pg'
import { KeptConnections, type KeptFor } from './kept-connections.js'

export class Connections {
  readonly #pool: pg.Pool
  readonly #kept: KeptConnections | undefined
  readonly #faults = new WeakMap<pg.PoolClient, { error?: Error }>()

  /** `mayKeep`: false where the pool is another's, who may want all of its connections. */
  constructor(pool: pg.Pool, { mayKeep }: { readonly mayKeep: boolean }) {
    this.#pool = pool
    this.#kept = mayKeep ? new KeptConnections(pool) : undefined
    pool.on('error', () => {})
    pool.on('connect', (client) => this.#watch(client))
  }

  /** A promise only where the pool must be asked. */
  take(keptFor?: KeptFor): pg.PoolClient | Promise<pg.PoolClient> {
    return this.#kept?.take(keptFor) ?? this.#connect()
  }

  /** `failure`: what it must not be used after. */
  putBack(client: pg.PoolClient, failure: Error | undefined, keptFor?: KeptFor): void {
    const fault = failure ?? this.#faults.get(client)?.error
    if (!this.#kept?.putBack(client, fault, keptFor)) client.release(fault)
  }

  close(): void {
    this.#kept?.close()
  }

  async #connect(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect()
    this.#watch(client) // the caller's own pool may have had it before us
    return client
  }

  // A connection that the server ends must not end the process, whoever has it at that moment: the pool, one of us, or nobody
  // yet, if it is ended in the same breath in which it is ready. Nor is it used again.
  #watch(client: pg.PoolClient): void {
    if (this.#faults.has(client)) return
    const fault: { error?: Error } = {}
    this.#faults.set(client, fault)
    client.on('error', (error) => {
      fault.error = error
    })
  }
}
