// What a session supports: all of it on a server, less behind a pooler that shares sessions between clients.

import pg from 'pg'
import { endQuietly } from './end-quietly.js'

export interface Capabilities {
  /** The client that sent LISTEN receives the notifications. */
  readonly listen: boolean
  /** A session's advisory lock stays with the client that took it. */
  readonly sessionLocks: boolean
  /** A named prepared statement still exists at the next call. */
  readonly preparedStatements: boolean
}

export const OWN_SESSION: Capabilities = Object.freeze({ listen: true, sessionLocks: true, preparedStatements: true })
export const SHARED_SESSION: Capabilities = Object.freeze({
  listen: false,
  sessionLocks: false,
  preparedStatements: false,
})

export interface CapabilityOptions {
  /**
   * true: there is a pooler in transaction mode before the server. false: there is none. Absent: Holdfast finds out by
   * connecting twice.
   */
  readonly pooler?: boolean | undefined
  /** false: Holdfast prepares no named statements. */
  readonly preparedStatements?: boolean | undefined
}

/** Takes the options, and finds out the rest from the server. */
export async function findCapabilities(options: CapabilityOptions, address: pg.ClientConfig): Promise<Capabilities> {
  const isShared = options.pooler ?? (await sharesSessions(address))
  const { preparedStatements } = options
  return {
    ...(isShared ? SHARED_SESSION : OWN_SESSION),
    ...(preparedStatements !== undefined && { preparedStatements }),
  }
}

// Long enough for a server on another continent.
const ANSWER_MS = 3000

/**
 * True when two clients that are connected at the same time reach the same backend, which happens only behind a pooler in
 * transaction mode. Leaves nothing in the session.
 */
async function sharesSessions(address: pg.ClientConfig): Promise<boolean> {
  // A pool hides its password from enumeration.
  const secret = address.password === undefined ? {} : { password: address.password }
  const config = { ...address, ...secret, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS }
  const first = new pg.Client(config)
  const second = new pg.Client(config)
  for (const client of [first, second]) client.on('error', () => {})
  try {
    await Promise.all([first.connect(), second.connect()])
    const before = await backendPid(first)
    await second.query('begin')
    if ((await backendPid(second)) === before) return true
    return (await backendPid(first)) !== before
  } catch {
    // The first real call meets the same fault and reports it.
    return false
  } finally {
    await Promise.all([first, second].map(endQuietly))
  }
}

async function backendPid(client: pg.Client): Promise<unknown> {
  return (await client.query('select pg_catalog.pg_backend_pid() as pid')).rows[0]?.pid
}
