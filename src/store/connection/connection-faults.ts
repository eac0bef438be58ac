// Which errors are the connection's fault and not the statement's.

/** What the driver reports about its socket without a code of its own. */
export class ConnectionFault extends Error {}

/** The answer to a statement of ours did not come in time. */
export class AnswerTimeout extends ConnectionFault {
  constructor(ms: number) {
    super(`timeout: no answer within ${ms} ms`)
  }
}

/**
 * To be called only with what the driver itself rejects with: there, a plain error without a code is about the connection.
 * Errors of handlers never come here.
 */
export function driverError(error: unknown): unknown {
  const isPlain =
    error instanceof Error && error.constructor === Error && !('code' in error && error.code !== undefined)
  return isPlain ? new ConnectionFault(error.message, { cause: error }) : error
}

/** True when the connection must not be used again. For errors of our own statements only: a handler's may have these codes. */
export function isConnectionFault(error: unknown): error is Error {
  if (error instanceof ConnectionFault) return true
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && (CONNECTION_FAULTS.has(code) || code.startsWith('08'))
}

/** SQLSTATEs and socket errors after which the same call may succeed on another connection. */
const CONNECTION_FAULTS: ReadonlySet<string> = new Set([
  '57P01', // an administrator ended this connection
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
