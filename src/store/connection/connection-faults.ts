// Which errors are the connection's fault and not the statement's.

/** True when the connection must not be used again. */
export function isConnectionFault(error: unknown): error is Error {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return error instanceof Error && /timeout|terminated|Connection/i.test(error.message)
  return CONNECTION_FAULTS.has(code) || code.startsWith('08')
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
