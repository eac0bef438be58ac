// SQLSTATEs and socket errors become codes here, once.

import { codeOfSqlstate, HoldfastError, isHoldfastError } from '../../domain/error/errors.js'
import { isConnectionFault } from './connection.js'

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

// The server is there but lets this program in nowhere: wrong password, no such role, no such database.
const REFUSED_LOGINS: ReadonlySet<string> = new Set(['28P01', '28000', '3D000'])

/** True when the same call may succeed if it is made again: nothing of it has happened. */
export function isPassing(error: unknown): boolean {
  return isHoldfastError(error, 'CONNECTION_FAILED') || PASSING.has(String((error as { code?: unknown } | null)?.code))
}

const PASSING: ReadonlySet<string> = new Set([
  '40001', // serialization failure, where the database's default isolation is stricter than ours
  '40P01', // deadlock: this transaction was chosen to give way
  '55P03', // a lock was not to be had in time
  '57014', // a statement timeout
  '53000', // out of some resource
  '53100', // the disk is full
  '53200', // out of memory
  '53400', // a configured limit was reached
])

/** True when a call that failed may have been done all the same: it was sent, and no refusal by the database came back. */
export function mayBeDone(error: unknown): boolean {
  const isOurs = isHoldfastError(error)
  if (isOurs && error.code !== 'CONNECTION_FAILED') return false
  const cause = ((isOurs ? error.cause : error) ?? {}) as { code?: unknown; syscall?: unknown; severity?: unknown }
  if (NEVER_BEGUN.has(String(cause.code)) || cause.syscall === 'connect' || cause.syscall === 'getaddrinfo')
    return false
  // What the server says ends the statement, unless it says that it ends the connection, or a pooler says that in its place.
  return cause.severity === undefined || isConnectionFault(cause)
}

const NEVER_BEGUN: ReadonlySet<string> = new Set([
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
