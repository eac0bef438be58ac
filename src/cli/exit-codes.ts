// Errors as exit codes and lines for people: 0 done, 1 failed, 2 wrong usage, 3 cannot connect, 4 the schema does not fit.

import { ERRORS, type ErrorCode, isHoldfastError } from '../domain/error/errors.js'

export function exitCodeOf(error: unknown): number {
  return isHoldfastError(error) ? ERRORS[error.code].exit : 1
}

/** `CODE: what happened`, its cause and what to do about it, or the same as JSON. */
export function errorLine(error: unknown, json: boolean): string {
  const isOwn = isHoldfastError(error)
  const code = isOwn ? error.code : 'ERROR'
  const message = error instanceof Error ? error.message : String(error)
  const cause = causeOf(error, message)
  const fix = isOwn ? FIXES[error.code] : undefined
  const details = isOwn && Object.keys(error.details).length > 0 ? { details: error.details } : {}
  if (json)
    return JSON.stringify({ error: { code, message, ...(cause && { cause }), ...(fix && { fix }), ...details } })
  return [`${code}: ${message}`, ...(cause ? [`  cause: ${cause}`] : []), ...(fix ? [`  fix: ${fix}`] : [])].join('\n')
}

function causeOf(error: unknown, message: string): string | undefined {
  const { cause } = (error ?? {}) as { cause?: unknown }
  const said = cause instanceof Error ? cause.message : undefined
  return said && !message.includes(said) && !said.includes(message) ? said : undefined
}

// Where the message itself names the command that repairs it, nothing is added.
const FIXES: Partial<Record<ErrorCode, string>> = {
  CONNECTION_FAILED:
    'see whether the server runs, and whether address, user, password and database of the URL are right',
  EMBEDDED_IN_USE: 'stop the process that has it open (holdfast dev?), or give --database',
  UNKNOWN_TYPE: 'see the types that your config defines, and the spelling',
  JOB_NOT_FOUND: 'see `holdfast jobs list`; finished jobs are pruned after the retention',
  WRONG_STATE: 'see the state with `holdfast jobs show <id>`: finished jobs can be retried, others cancelled',
  NOT_STALE: 'wait, or give --stale with a shorter time if you know that its worker is stuck',
  JOB_UNKNOWN: 'see `holdfast schedules list`',
  RESULT_TIMEOUT: 'see `holdfast doctor`: is there a worker that serves its queue and knows its type?',
}
