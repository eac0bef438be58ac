// Every error code of Holdfast: the one source for SQL, HTTP, the CLI and the reference page.
// Exit codes: 1 failed, 2 wrong usage or value, 3 cannot connect, 4 the schema does not fit.

import { readProperty } from '../value/read-property.js'

interface ErrorEntry {
  readonly http: number
  readonly exit: 1 | 2 | 3 | 4
  /** What SQL functions raise, in a class that the standard leaves free; null where SQL never raises it. */
  readonly sqlstate: string | null
  readonly text: string
}

export const ERRORS = {
  LEASE_LOST: { http: 409, exit: 1, sqlstate: 'JH001', text: 'this worker no longer holds the job' },
  JOB_NOT_FOUND: { http: 404, exit: 1, sqlstate: 'JH002', text: 'there is no such job' },
  WRONG_STATE: { http: 409, exit: 1, sqlstate: 'JH003', text: 'the state of the job does not allow this' },
  INVALID_INPUT: { http: 422, exit: 2, sqlstate: 'JH004', text: 'the input of the job is not valid' },
  INVALID_OPTION: { http: 400, exit: 2, sqlstate: 'JH005', text: 'an option is not valid' },
  WRONG_ISOLATION: {
    http: 500,
    exit: 1,
    sqlstate: 'JH006',
    text: 'this transaction must use the isolation level READ COMMITTED',
  },
  NOT_STALE: {
    http: 409,
    exit: 1,
    sqlstate: 'JH007',
    text: 'the job was claimed too recently to be recovered',
  },
  JOB_LOCKED: { http: 409, exit: 1, sqlstate: 'JH011', text: 'another worker is handling the schedule' },
  JOB_NOT_DUE: {
    http: 409,
    exit: 1,
    sqlstate: 'JH012',
    text: 'no tick of the schedule is due, or another one than expected',
  },
  JOB_DISABLED: { http: 409, exit: 1, sqlstate: 'JH013', text: 'the schedule is disabled or over' },
  JOB_UNKNOWN: { http: 404, exit: 1, sqlstate: 'JH014', text: 'there is no such schedule' },
  PIPELINE_NOT_FOUND: { http: 404, exit: 1, sqlstate: 'JH021', text: 'there is no such pipeline' },
  PIPELINE_CYCLE: {
    http: 422,
    exit: 2,
    sqlstate: 'JH022',
    text: 'the steps of the pipeline depend on each other in a cycle',
  },
  UNKNOWN_STEP: {
    http: 422,
    exit: 2,
    sqlstate: 'JH023',
    text: 'a step of the pipeline depends on a step that does not exist',
  },
  DUPLICATE_STEP: { http: 422, exit: 2, sqlstate: 'JH024', text: 'two steps of the pipeline have the same name' },
  PIPELINE_TOO_LARGE: {
    http: 422,
    exit: 2,
    sqlstate: 'JH025',
    text: 'the pipeline has more steps or dependencies than allowed',
  },
  UNKNOWN_PIPELINE: { http: 422, exit: 2, sqlstate: null, text: 'no pipeline of this name is defined here' },
  PIPELINE_FAILED: { http: 409, exit: 1, sqlstate: null, text: 'a step of the pipeline failed' },
  PIPELINE_CANCELLED: { http: 409, exit: 1, sqlstate: null, text: 'the pipeline was cancelled' },
  UNKNOWN_TYPE: { http: 422, exit: 2, sqlstate: null, text: 'no job of this type is defined here' },
  DUPLICATE_TYPE: { http: 500, exit: 2, sqlstate: null, text: 'two jobs are defined with the same type' },
  INVALID_OUTPUT: { http: 422, exit: 1, sqlstate: null, text: 'the handler returned a value that JSON cannot hold' },
  STEP_REPEATED: {
    http: 409,
    exit: 1,
    sqlstate: null,
    text: 'a handler used the name of a durable step twice in one run',
  },
  STEP_MISPLACED: { http: 409, exit: 1, sqlstate: null, text: 'steps and waits cannot be used inside ctx.tx' },
  EVENT_TIMEOUT: { http: 504, exit: 1, sqlstate: null, text: 'the event was not emitted within the timeout' },
  JOB_FAILED: { http: 409, exit: 1, sqlstate: null, text: 'the job failed' },
  JOB_CANCELLED: { http: 409, exit: 1, sqlstate: null, text: 'the job was cancelled' },
  JOB_SUPERSEDED: { http: 409, exit: 1, sqlstate: null, text: 'a newer job of the same key replaced this one' },
  RESULT_TIMEOUT: { http: 504, exit: 1, sqlstate: null, text: 'the job did not finish within the timeout' },
  SCHEMA_MISSING: {
    http: 503,
    exit: 4,
    sqlstate: null,
    text: 'the database has no Holdfast schema: run `holdfast migrate`',
  },
  SCHEMA_OUTDATED: {
    http: 503,
    exit: 4,
    sqlstate: null,
    text: 'the schema is older than this program needs: run `holdfast migrate`',
  },
  SCHEMA_TOO_NEW: {
    http: 503,
    exit: 4,
    sqlstate: null,
    text: 'the schema is newer than this program knows: update the holdfast package',
  },
  MIGRATION_CHANGED: {
    http: 503,
    exit: 4,
    sqlstate: null,
    text: 'the schema was created from another text of a migration: create it again, or use the package that created it',
  },
  CONNECTION_FAILED: { http: 503, exit: 3, sqlstate: null, text: 'the database cannot be reached' },
  EMBEDDED_IN_USE: {
    http: 409,
    exit: 3,
    sqlstate: null,
    text: 'another process has the folder of the embedded database open',
  },
  EMBEDDED_MISSING: {
    http: 500,
    exit: 3,
    sqlstate: null,
    text: 'the embedded database needs a package: run `npm install @electric-sql/pglite`',
  },
  TRANSACTION_ROLLED_BACK: {
    http: 409,
    exit: 1,
    sqlstate: null,
    text: 'the transaction was rolled back, because one of its statements had failed: let that error reach ctx.tx',
  },
  TIMED_OUT: { http: 504, exit: 1, sqlstate: null, text: 'the handler ran past its timeout' },
  CANCELLED: { http: 409, exit: 1, sqlstate: null, text: 'the job was cancelled while it ran' },
  SUPERSEDED: {
    http: 409,
    exit: 1,
    sqlstate: null,
    text: 'a newer job of the same key replaced this one while it ran',
  },
  SHUTDOWN: { http: 503, exit: 1, sqlstate: null, text: 'the worker is shutting down' },
  AUTH_REQUIRED: {
    http: 500,
    exit: 2,
    sqlstate: null,
    text: 'the HTTP API is closed by default: pass an `auth` hook, or serve it on a loopback address',
  },
  UNAUTHENTICATED: { http: 401, exit: 1, sqlstate: null, text: 'the request has no valid credentials' },
  FORBIDDEN: { http: 403, exit: 1, sqlstate: null, text: 'the principal lacks the permission for this' },
  CROSS_SITE: { http: 403, exit: 1, sqlstate: null, text: 'a page of another site may not change anything' },
  NOT_FOUND: { http: 404, exit: 1, sqlstate: null, text: 'this address does not exist' },
  METHOD_NOT_ALLOWED: { http: 405, exit: 1, sqlstate: null, text: 'this address does not support the method' },
  BODY_TOO_LARGE: { http: 413, exit: 1, sqlstate: null, text: 'the body of the request is too large' },
  UNSUPPORTED_MEDIA_TYPE: {
    http: 415,
    exit: 1,
    sqlstate: null,
    text: 'the body of the request must be application/json',
  },
  INVALID_REQUEST: { http: 422, exit: 2, sqlstate: null, text: 'the request is not valid' },
  RATE_LIMITED: { http: 429, exit: 1, sqlstate: null, text: 'too many requests or streams: wait and try again' },
  UNEXPECTED: { http: 500, exit: 1, sqlstate: null, text: 'an unexpected fault; the log has its cause' },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

/** What Holdfast throws: `code` for programs, `message` for people, `details` with the values in the message. */
export class HoldfastError extends Error {
  // On the prototype, so that the first line of the stack, written before any field is set, has it too.
  static {
    HoldfastError.prototype.name = 'HoldfastError'
  }

  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].text,
    options: { cause?: unknown; details?: Record<string, unknown> } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.details = Object.freeze({ ...options.details })
  }
}

/** Checks the shape, because an error of a second copy of the package is no instance of this class. Never throws. */
export function isHoldfastError<C extends ErrorCode = ErrorCode>(
  value: unknown,
  code?: C,
): value is HoldfastError & { readonly code: C } {
  if (readProperty(value, 'name') !== 'HoldfastError') return false
  const found = readProperty(value, 'code')
  if (typeof found !== 'string' || !Object.hasOwn(ERRORS, found)) return false
  return code === undefined || found === code
}

/** The code of a SQLSTATE; undefined for all that are not Holdfast's own. */
export function codeOfSqlstate(sqlstate: string): ErrorCode | undefined {
  return CODE_OF_SQLSTATE.get(sqlstate)
}

const CODE_OF_SQLSTATE: ReadonlyMap<string, ErrorCode> = new Map(
  (Object.entries(ERRORS) as [ErrorCode, ErrorEntry][]).flatMap(([code, { sqlstate }]) =>
    sqlstate === null ? [] : [[sqlstate, code] as const],
  ),
)
