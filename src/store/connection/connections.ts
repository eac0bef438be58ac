// Takes connections from a pool, and closes those that broke instead of giving them back.

import type pg from 'pg'
import { driverError } from './connection-faults.js'

export class Connections {
  readonly #pool: pg.Pool
  readonly #faults = new WeakMap<pg.PoolClient, { error?: Error }>()

  constructor(pool: pg.Pool) {
    this.#pool = pool
    pool.on('error', () => {})
    pool.on('connect', (client) => this.#watch(client))
  }

  async take(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect().catch((error) => {
      throw driverError(error)
    })
    this.#watch(client) // the application's own pool may have opened it earlier
    return client
  }

  /** `failure`: why the connection must not be used again. */
  putBack(client: pg.PoolClient, failure: Error | undefined): void {
    client.release(failure ?? this.#faults.get(client)?.error)
  }

  // Without a listener the error of a connection that the server ends would end the process, also when it arrives between the
  // opening of the connection and its first use.
  #watch(client: pg.PoolClient): void {
    if (this.#faults.has(client)) return
    const fault: { error?: Error } = {}
    this.#faults.set(client, fault)
    client.on('error', (error) => {
      fault.error = error
    })
  }
}
