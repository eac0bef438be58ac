// One connection that is opened and prepared again when it breaks.

import pg from 'pg'
import { AnswerWatch } from './answer-watch.js'
import type { Queryable, Row } from './connection.js'
import { driverError, isConnectionFault } from './connection-faults.js'
import { endQuietly } from './end-quietly.js'

// After this time a new connection is more likely to renew the leases in time.
const ANSWER_MS = 3000
const CONNECT_MS = 3000

export class LastingSession implements Queryable {
  readonly #address: pg.ClientConfig
  readonly #prepare: (session: Queryable) => Promise<void>
  readonly #answerMs: number
  readonly #watch: AnswerWatch
  #client: Promise<pg.Client> | undefined

  constructor(
    address: pg.ClientConfig,
    prepare: (session: Queryable) => Promise<void>,
    { answerMs = ANSWER_MS, watch = new AnswerWatch() } = {},
  ) {
    this.#address = address
    this.#prepare = prepare
    this.#answerMs = answerMs
    this.#watch = watch
  }

  /**
   * Rejects when the server does not answer in time, and closes that connection. A connection that broke since the last
   * query is replaced at once, because a late heartbeat looks like a death: so a statement may run twice.
   */
  async query(text: string, values?: unknown[]): Promise<{ rows: Row[] }> {
    const wasOpen = this.#client !== undefined
    const opening = this.open()
    const client = await opening
    try {
      return await this.#inTime(client.query(text, values))
    } catch (thrown) {
      const error = driverError(thrown)
      if (!isConnectionFault(error)) throw error
      await this.#discard(opening)
      if (wasOpen) return this.query(text, values)
      throw error
    }
  }

  /** Connects and prepares; the first query does so too. */
  open(): Promise<pg.Client> {
    if (this.#client) return this.#client
    const opening = this.#connect()
    this.#client = opening
    opening.catch(() => {
      // The next query tries again.
      if (this.#client === opening) this.#client = undefined
    })
    return opening
  }

  /** Closes the connection; the next query opens and prepares another. */
  async renew(): Promise<void> {
    if (this.#client) await this.#discard(this.#client)
  }

  close(): Promise<void> {
    return this.renew()
  }

  // Not the driver's own timeout: it counts the time of a blocked process, and would close a session that has answered, with
  // the lock that it holds.
  #inTime<T>(asked: Promise<T>): Promise<T> {
    return this.#watch.inTime(asked, this.#answerMs)
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#address, connectionTimeoutMillis: CONNECT_MS, query_timeout: 0 })
    client.on('error', () => {}) // the next query reports a connection that broke while idle
    await client.connect()
    try {
      await this.#prepare({ query: (text, values) => this.#inTime(client.query(text, values)) })
      return client
    } catch (error) {
      await endQuietly(client)
      throw error
    }
  }

  async #discard(opening: Promise<pg.Client>): Promise<void> {
    if (this.#client === opening) this.#client = undefined
    const client = await opening.catch(() => undefined)
    if (client) await endQuietly(client)
  }
}
