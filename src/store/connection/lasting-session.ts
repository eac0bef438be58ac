// One connection that is opened again when it breaks, with what must hold for a fresh one.

import pg from 'pg'
import { AnswerWatch } from './answer-watch.js'
import { isConnectionFault, type Queryable, type Row } from './connection.js'
import { endQuietly } from './end-quietly.js'

// A renewal that takes longer than this is worth less than a new connection.
const ANSWER_MS = 3000

export class KeptSession implements Queryable {
  readonly #address: pg.ClientConfig
  readonly #prepare: (session: Queryable) => Promise<void>
  readonly #watch = new AnswerWatch()
  #client: Promise<pg.Client> | undefined

  constructor(address: pg.ClientConfig, prepare: (session: Queryable) => Promise<void>) {
    this.#address = address
    this.#prepare = prepare
  }

  /**
   * Rejects when the server does not answer in time; that connection is not used again. One that broke since the last question
   * is replaced at once: a heartbeat that waits for the next round looks like a death. So what is asked may be asked twice.
   */
  async query(text: string, values?: unknown[]): Promise<{ rows: Row[] }> {
    const wasOpen = this.#client !== undefined
    const opening = this.open()
    const client = await opening
    try {
      return await this.#inTime(client.query(text, values))
    } catch (error) {
      if (!isConnectionFault(error)) throw error
      await this.#discard(opening)
      if (wasOpen) return this.query(text, values)
      throw error
    }
  }

  /** Connected and prepared. Need not be asked for: the first query opens it too. */
  open(): Promise<pg.Client> {
    if (this.#client) return this.#client
    const opening = this.#connect()
    this.#client = opening
    opening.catch(() => {
      // Whatever the reason, the next question tries again.
      if (this.#client === opening) this.#client = undefined
    })
    return opening
  }

  /** Gives the connection up; the next query opens and prepares another. */
  async renew(): Promise<void> {
    if (this.#client) await this.#discard(this.#client)
  }

  close(): Promise<void> {
    return this.renew()
  }

  // Not by the driver's own limit, which takes the time of a blocked process for the server's, and would cost the session and the
  // lock that it holds.
  #inTime<T>(asked: Promise<T>): Promise<T> {
    return this.#watch.inTime(asked, ANSWER_MS)
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#address, connectionTimeoutMillis: ANSWER_MS, query_timeout: 0 })
    client.on('error', () => {}) // what breaks while nothing is asked shows at the next question
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
