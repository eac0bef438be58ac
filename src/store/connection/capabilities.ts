// What a session may rely on: a server gives all of it, a pooler that hands sessions from one client to the next does not.

import pg from 'pg'
import { endQuietly } from './end-quietly.js'

export interface Capabilities {
  /** LISTEN is heard by the one who said it. */
  readonly listen: boolean
  /** An advisory lock of the session stays with the one who took it. */
  readonly sessionLocks: boolean
  /** A statement that was prepared under a name is still there the next time. */
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
   * true: a pooler in transaction mode stands before the server, so nothing relies on a session. false: none does. Found
   * out by asking when absent.
   */
  readonly pooler?: boolean | undefined
  /** false: no statement is prepared under a name. */
  readonly preparedStatements?: boolean | undefined
}

/** Asks a server what the options do not say. */
export async function findCapabilities(options: CapabilityOptions, address: pg.ClientConfig): Promise<Capabilities> {
  const isShared = options.pooler ?? (await sharesSessions(address))
  const { preparedStatements } = options
  return {
    ...(isShared ? SHARED_SESSION : OWN_SESSION),
    ...(preparedStatements !== undefined && { preparedStatements }),
  }
}

// Long enough for a server on another continent. One that takes longer is met by the first real question.
const ANSWER_MS = 3000

/**
 * True when two clients that are connected at the same time meet the same backend, which only a pooler in transaction mode
 * makes happen: the second begins a transaction on whatever the first has just given back. Leaves nothing in the session.
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
    // Whoever wants to use the database meets the same fault and tells of it; nothing is known of a pooler.
    return false
  } finally {
    await Promise.all([first, second].map(endQuietly))
  }
}

async function backendPid(client: pg.Client): Promise<unknown> {
  return (await client.query('select pg_catalog.pg_backend_pid() as pid')).rows[0]?.pid
}
