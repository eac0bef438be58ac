// Translates SQLSTATEs and socket errors into codes, and says which failed calls may be repeated.

import { codeOfSqlstate, HoldfastError, isHoldfastError } from '../../domain/error/errors.js'
import { isConnectionFault } from './connection-faults.js'

/** Holdfast's own refusals and connection faults become HoldfastErrors; anything else stays the driver's error. */
export function translated(error: unknown): unknown {
  const { code, message, detail } = error as { code?: unknown; message?: string; detail?: string }
  const known = typeof code === 'string' ? codeOfSqlstate(code) : undefined
  if (known !== undefined) {
    return new HoldfastError(known, message?.replace(`${known}: `, ''), { cause: error, details: parseDetail(detail) })
  }
  const isUnreachable = isConnectionFault(error) || (typeof code === 'string' && REFUSED_LOGINS.has(code))
  if (error instanceof HoldfastError || !isUnreachable) return error
  return new HoldfastError('CONNECTION_FAILED', `the database cannot be reached: ${message || code}`, { cause: error })
}

// The server refuses the login: wrong password, no such role, no such database.
const REFUSED_LOGINS: ReadonlySet<string> = new Set(['28P01', '28000', '3D000'])

/** True when a repeated call may succeed, and the failed one has changed nothing. */
export function isPassing(error: unknown): boolean {
  return isHoldfastError(error, 'CONNECTION_FAILED') || PASSING.has(String((error as { code?: unknown } | null)?.code))
}

const PASSING: ReadonlySet<string> = new Set([
  '40001', // serialization failure, where the database's default isolation is stricter than ours
  '40P01', // deadlock: PostgreSQL chose this transaction as the victim
  '55P03', // a lock timeout
  '57014', // a statement timeout
  '53000', // out of some resource
  '53100', // the disk is full
  '53200', // out of memory
  '53400', // a configured limit was reached
])

/** True when a failed call may have been committed: it was sent, and the database has not refused it. */
export function mayBeDone(error: unknown): boolean {
  const isOurs = isHoldfastError(error)
  if (isOurs && error.code !== 'CONNECTION_FAILED') return false
  const cause = ((isOurs ? error.cause : error) ?? {}) as { code?: unknown; syscall?: unknown; severity?: unknown }
  if (NEVER_STARTED.has(String(cause.code)) || cause.syscall === 'connect' || cause.syscall === 'getaddrinfo')
    return false
  // An error from the server means a rollback, unless it says that the server or a pooler ends the connection.
  return cause.severity === undefined || isConnectionFault(cause)
}

const NEVER_STARTED: ReadonlySet<string> = new Set([
  ...REFUSED_LOGINS,
  '53300', // too many connections
  '57P03', // the server is starting up
  '25006', // read-only
])

function parseDetail(detail: string | undefined): Record<string, unknown> {
  try {
    const { code: _, ...details } = JSON.parse(detail ?? '{}')
    return details
  } catch {
    return {}
  }
}
