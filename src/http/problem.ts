// Every refusal leaves as application/problem+json (RFC 9457): the code for programs, the detail for people.

import { HTTPException } from 'hono/http-exception'
import { ERRORS, type ErrorCode, HoldfastError, isHoldfastError } from '../domain/error/errors.js'

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ErrorCode
  readonly detail: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** What was thrown as a refusal with a code. Only UNEXPECTED is a fault of the program, and its cause is for the log alone. */
export function refusalOf(thrown: unknown): HoldfastError {
  if (isHoldfastError(thrown)) return thrown
  if (thrown instanceof HTTPException) {
    const code = CODE_OF_STATUS[thrown.status]
    if (code !== undefined) return new HoldfastError(code, thrown.message || undefined)
  }
  return new HoldfastError('UNEXPECTED', undefined, { cause: thrown })
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'INVALID_REQUEST',
  413: 'BODY_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

export function problemResponse(error: HoldfastError, headers: Readonly<Record<string, string>> = {}): Response {
  const { http: status, text } = ERRORS[error.code]
  // Hides the cause of a fault: messages of drivers name hosts, roles and statements.
  const isInside = status >= 500
  const problem: Problem = {
    type: `urn:holdfast:error:${error.code}`,
    title: text,
    status,
    code: error.code,
    detail: isInside ? text : error.message,
    ...(!isInside && Object.keys(error.details).length > 0 && { details: error.details }),
  }
  return new Response(JSON.stringify(problem), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headersOf(error), ...headers },
  })
}

function headersOf({ code, details }: HoldfastError): Record<string, string> {
  if (code === 'UNAUTHENTICATED') return { 'www-authenticate': 'Bearer' }
  if (code === 'METHOD_NOT_ALLOWED') return { allow: (details.allowed as string[]).join(', ') }
  if (code === 'RATE_LIMITED') return { 'retry-after': String(details.retryAfterSeconds ?? 1) }
  if (ERRORS[code].http === 503) return { 'retry-after': '5' }
  return {}
}

export function rateLimited(message: string, waitSeconds: number): HoldfastError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitSeconds))
  return new HoldfastError('RATE_LIMITED', message, { details: { retryAfterSeconds } })
}
