// SQLSTATEs and socket errors become codes here, once.

import { codeOfSqlstate, HoldfastError } from '../domain/errors.js'
import { isConnectionFault } from './connection.js'

/** Holdfast's own refusals and connection faults become HoldfastErrors; anything else stays the driver's error. */
export function translated(error: unknown): unknown {
  const { code, message, detail } = error as { code?: unknown; message?: string; detail?: string }
  const known = typeof code === 'string' ? codeOfSqlstate(code) : undefined
  if (known !== undefined) {
    return new HoldfastError(known, message?.replace(`${known}: `, ''), { cause: error, details: parseDetail(detail) })
  }
  if (error instanceof HoldfastError || !isConnectionFault(error)) return error
  return new HoldfastError('CONNECTION_FAILED', `the database cannot be reached: ${message || code}`, { cause: error })
}

function parseDetail(detail: string | undefined): Record<string, unknown> {
  try {
    const { code: _, ...details } = JSON.parse(detail ?? '{}')
    return details
  } catch {
    return {}
  }
}
