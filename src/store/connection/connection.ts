// The one way to a database: a pool of connections to a server, or the embedded PGlite behind the same driver.

import { createHash } from 'node:crypto'
import type pg from 'pg'
import { AnswerWatch } from './answer-watch.js'
import type { Capabilities } from './capabilities.js'
import { driverError, isConnectionFault } from './connection-faults.js'
import { Connections } from './connections.js'
import type { Listening } from './listening.js'
import { callPrepared, type PreparedStatement, type Row } from './prepared-call.js'
import { transact } from './transact.js'

export type { Row } from './prepared-call.js'

/** Anything that runs a statement: a pool, a client, a caller's transaction. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
}

export interface Database extends Queryable {
  readonly engine: 'server' | 'embedded'
  /** Where an embedded database is stored; undefined in memory, in the caller's own PGlite and on a server. */
  readonly folder?: string | undefined
  /** How another thread or process opens the same database; undefined where it cannot. */
  readonly address: pg.ClientConfig | undefined
  readonly capabilities: Capabilities
  readonly maxConnections: number
  /** Runs a statement that each connection prepares once, where sessions allow it. */
  prepared(text: string, values: unknown[], options: PreparedOptions): Promise<{ rows: Row[] }>
  /** Runs `work` in a transaction on one connection; rolled back when `work` throws. Rejects when PostgreSQL rolls it back. */
  transaction<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T>
  /** Lends one connection to `work`, which sends statements of ours only, outside any transaction. */
  session<T>(work: (session: pg.PoolClient) => Promise<T>): Promise<T>
  /** Listens to a channel until closed. Rejects where the engine or a pooler does not support it. */
  listen(channel: string, heard: () => void, lost: (error: Error) => void): Promise<Listening>
  close(): Promise<void>
}

export interface PreparedOptions {
  /** How long to wait for the answer before the connection is closed. */
  readonly answerMs: number
  /** Called in the turn of the event loop in which the answer is read; the promise resolves in a later one. */
  readonly onAnswer?: ((rows: Row[]) => void) | undefined
}

export interface PoolParts extends Pick<Database, 'engine' | 'address' | 'capabilities' | 'listen' | 'close'> {
  /** false: the application's own pool, whose sessions may have settings of its own. */
  readonly ownsSessions: boolean
}

// Statements without a limit of their own take milliseconds, but may wait for a lock.
const STATEMENT_MS = 60_000

/** What a server's pool and PGlite's pool have in common. */
export function overPool(pool: pg.Pool, { ownsSessions, ...parts }: PoolParts): Database {
  let preparesStatements = parts.capabilities.preparedStatements
  const connections = new Connections(pool)
  const answers = new AnswerWatch()

  const callOnce = async (statement: PreparedStatement, values: unknown[], options: PreparedOptions) => {
    const client = await connections.take()
    return new Promise<{ rows: Row[] }>((resolve, reject) => {
      let isOver = false
      const end = (error: Error | null, rows: Row[] = []) => {
        if (isOver) return
        isOver = true
        answers.end(end)
        // First, because `onAnswer` may make the next call.
        connections.putBack(client, isConnectionFault(error) ? error : undefined)
        if (error) return reject(error)
        try {
          options.onAnswer?.(rows)
          resolve({ rows })
        } catch (thrown) {
          reject(thrown)
        }
      }
      answers.begin(end, options.answerMs)
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
    } finally {
      connections.putBack(client, failure)
    }
  }

  const withOurStatements = <T>(work: (client: pg.PoolClient) => Promise<T>) =>
    withClient(async (client, spoil) => {
      try {
        return await work(client)
      } catch (thrown) {
        const error = driverError(thrown)
        if (isConnectionFault(error)) spoil(error)
        throw error
      }
    })

  const inTime = <T>(asked: Promise<T>) => answers.inTime(asked, STATEMENT_MS)
  return {
    ...parts,
    maxConnections: pool.options.max,
    // Not pool.query, which closes the connection after every error, also after a refused statement.
    query: (text, values) => withOurStatements((client) => inTime(client.query(text, values))),
    async prepared(text, values, options) {
      if (!preparesStatements) return callOnce({ name: undefined, text }, values, options)
      try {
        return await callOnce({ name: statementName(text), text }, values, options)
      } catch (error) {
        if (!FORGOTTEN_STATEMENT.has((error as { code?: unknown } | null)?.code)) throw error
        preparesStatements = false
        return callOnce({ name: undefined, text }, values, options)
      }
    },
    session: withOurStatements,
    transaction: (work) =>
      withClient((client, spoil) => transact(client, work, { inTime, resetsSession: ownsSessions }, spoil)),
  }
}

// A pooler has handed the call to another session than the one that prepared the statement. Nothing of it has run.
const FORGOTTEN_STATEMENT: ReadonlySet<unknown> = new Set(['26000', '42P05'])

const STATEMENT_NAMES = new Map<string, string>()

/** A name made of the text: two processes that share a session never use one name for two texts. */
function statementName(text: string): string {
  let name = STATEMENT_NAMES.get(text)
  if (name === undefined) {
    name = `holdfast_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    STATEMENT_NAMES.set(text, name)
  }
  return name
}
