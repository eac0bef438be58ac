// Errors as exit codes and lines for people: 0 done, 1 failed, 2 wrong usage, 3 cannot connect, 4 the schema does not fit.

import { ERRORS, isHoldfastError } from '../domain/errors.js'

export function exitCodeOf(error: unknown): number {
  return isHoldfastError(error) ? ERRORS[error.code].exit : 1
}

/** `CODE: what happened`, or the same as JSON. */
export function errorLine(error: unknown, json: boolean): string {
  const code = isHoldfastError(error) ? error.code : 'ERROR'
  const message = error instanceof Error ? error.message : String(error)
  return json ? JSON.stringify({ error: { code, message } }) : `${code}: ${message}`
}
