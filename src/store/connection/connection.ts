// The one way to a database: a pool of connections to a server, or the embedded PGlite behind the same driver.

import { createHash } from 'node:crypto'
import pg from 'pg'
import { AnswerWatch } from './answer-watch.js'
import type { Capabilities } from './capabilities.js'
import { Connections } from './connections.js'
import type { KeptFor } from './kept-connections.js'
import { callPrepared, type KeptStatement, type Row } from './prepared-call.js'

export type { Row } from './prepared-call.js'

/** Whatever runs a statement: a pool, a client, a caller's transaction. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
}

export interface Database extends Queryable {
  readonly engine: 'server' | 'embedded'
  /** Where an embedded database is kept; undefined in memory, in the caller's own PGlite and on a server. */
  readonly folder?: string | undefined
  /** How another thread or process opens the same database; undefined where it cannot. */
  readonly address: pg.ClientConfig | undefined
  readonly capabilities: Capabilities
  readonly maxConnections: number
  /** Runs a statement that is prepared once per connection under its own text, where sessions can keep it. */
  prepared(text: string, values: unknown[], manner: PreparedManner): Promise<{ rows: Row[] }>
  /** One connection from begin to commit; rolled back when `work` throws. */
  transaction<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T>
  /** One connection for `work` alone, outside any transaction; closed instead of used again when `work` has spoilt it. */
  session<T>(work: (session: pg.PoolClient, spoil: (error: Error) => void) => Promise<T>): Promise<T>
  /** Hears a channel until closed. Rejects where the engine or a pooler cannot. */
  listen(channel: string, heard: () => void, lost: (error: Error) => void): Promise<Listening>
  close(): Promise<void>
}

export interface PreparedManner {
  /** How long to wait for the answer before the connection is given up. */
  readonly answerMs: number
  /** Whose connection to use, where one is kept for them. */
  readonly keptFor?: KeptFor | undefined
  /** What cannot wait: done in the turn in which the answer is read; the promise is for the turns after that. */
  readonly onAnswer?: ((rows: Row[]) => void) | undefined
}

export interface Listening {
  /** Asks the server whether the channel is still heard; rejects when the connection does not answer. */
  check(): Promise<boolean>
  close(): Promise<void>
}

const STATEMENT_NAMES = new Map<string, string>()

/** A short name made of the statement's text: where processes share a session, none meets another's text under it. */
function statementName(text: string): string {
  let name = STATEMENT_NAMES.get(text)
  if (name === undefined) {
    name = `holdfast_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    STATEMENT_NAMES.set(text, name)
  }
  return name
}

// What is asked without a bound of its own takes milliseconds too, but may wait for a lock.
const QUESTION_MS = 60_000

export interface PoolParts extends Pick<Database, 'engine' | 'address' | 'capabilities' | 'listen'> {
  /** undefined where the pool is another's, who may want all of its connections. */
  readonly close: (() => Promise<void>) | undefined
}

/** The parts that a server's pool and PGlite's pool share. */
export function overPool(pool: pg.Pool, { close, ...parts }: PoolParts): Database {
  let keepsStatements = parts.capabilities.preparedStatements
  const connections = new Connections(pool, { mayKeep: close !== undefined })
  const answers = new AnswerWatch()
  const ask = async (statement: KeptStatement, values: unknown[], { answerMs, keptFor, onAnswer }: PreparedManner) => {
    const taken = connections.take(keptFor)
    const client = taken instanceof Promise ? await taken : taken
    return new Promise<{ rows: Row[] }>((resolve, reject) => {
      let isOver = false
      const end = (error: Error | null, rows: Row[] = []) => {
        if (isOver) return
        isOver = true
        answers.end(end)
        // Before anything else: who acts on the answer may have another question.
        connections.putBack(client, isConnectionFault(error) ? (error as Error) : undefined, keptFor)
        if (error) return reject(error)
        try {
          onAnswer?.(rows)
          resolve({ rows })
        } catch (thrown) {
          reject(thrown)
        }
      }
      answers.begin(end, answerMs)
      callPrepared(client, statement, values, end)
    })
  }
  const withClient = async <T>(work: (client: pg.PoolClient, spoil: (error: Error) => void) => Promise<T>) => {
    const client = await connections.take()
    let failure: Error | undefined
    const spoil = (error: Error) => {
      failure = error
    }
    try {
      return await work(client, spoil)
    } catch (error) {
      if (isConnectionFault(error)) spoil(error as Error)
      throw error
    } finally {
      connections.putBack(client, failure)
    }
  }
  const inTime = <T>(asked: Promise<T>) => answers.inTime(asked, QUESTION_MS)
  return {
    ...parts,
    maxConnections: pool.options.max,
    async close() {
      connections.close()
      await close?.()
    },
    // Not pool.query, which gives the connection up after any error, also after a refusal.
    query: (text, values) => withClient((client) => inTime(client.query(text, values))),
    async prepared(text, values, manner) {
      if (!keepsStatements) return ask({ name: undefined, text }, values, manner)
      try {
        return await ask({ name: statementName(text), text }, values, manner)
      } catch (error) {
        if (!FORGOTTEN_STATEMENT.has((error as { code?: unknown } | null)?.code)) throw error
        keepsStatements = false
        return ask({ name: undefined, text }, values, manner)
      }
    },
    session: (work) => withClient(work),
    transaction: (work) =>
      withClient(async (client, spoil) => {
        await inTime(client.query('begin isolation level read committed'))
        try {
          const result = await work(client)
          await inTime(client.query('commit'))
          return result
        } catch (error) {
          await inTime(client.query('rollback')).catch(spoil) // a broken connection rolls back by itself
          throw error
        }
      }),
  }
}

// The session is not the one that the statement was prepared in: a pooler came between. Nothing of it has run.
const FORGOTTEN_STATEMENT: ReadonlySet<unknown> = new Set(['26000', '42P05'])

/** True when the connection, not the statement, is at fault: it must not go back to the pool. */
export function isConnectionFault(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return error instanceof Error && /timeout|terminated|Connection/i.test(error.message)
  return CONNECTION_FAULTS.has(code) || code.startsWith('08')
}

/** SQLSTATEs and socket errors after which the same call may succeed on another connection. */
export const CONNECTION_FAULTS: ReadonlySet<string> = new Set([
  '57P01', // the server was told to end this connection
  '57P02', // the server crashed
  '57P03', // the server is starting up
  '57P05', // idle for too long
  '25006', // read-only: this is a standby, or became one
  '53300', // too many connections
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
])

// Who waits longer to learn whether it hears anything had better listen anew.
const CHECK_MS = 5000

/** A dedicated connection that hears a channel. It is never a pooled one: LISTEN is the state of its session. */
export async function listenWith(
  client: pg.Client,
  channel: string,
  heard: () => void,
  lost: (error: Error) => void,
): Promise<Listening> {
  let closed = false
  const fail = (error: Error) => {
    if (closed) return
    closed = true
    client.end().catch(() => {})
    lost(error)
  }
  client.on('error', fail)
  client.on('end', () => fail(new Error('the listening connection has ended')))
  client.on('notification', (message) => {
    if (message.channel === channel) heard()
  })
  try {
    await client.connect()
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
  } catch (error) {
    closed = true
    client.end().catch(() => {})
    throw error
  }
  return {
    async check() {
      const question = { text: 'select c.name from pg_listening_channels() as c(name)', query_timeout: CHECK_MS }
      const { rows } = await client.query(question)
      return rows.some((row) => row.name === channel)
    },
    async close() {
      closed = true
      await client.end().catch(() => {})
    },
  }
}
