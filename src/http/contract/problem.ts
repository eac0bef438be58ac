// The body of every refusal.

import { z } from '@hono/zod-openapi'
import { ERRORS, type ErrorCode } from '../../domain/error/errors.js'

export const problemSchema = z
  .object({
    type: z.string().openapi({ example: 'urn:holdfast:error:NOT_STALE' }),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
    detail: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('Problem')

const REFUSALS = {
  400: 'A value is not allowed; `detail` says which and what is.',
  401: 'The auth hook knows no principal for this request.',
  403: 'The principal may not do this, or a page of another site asks.',
  404: 'There is no such thing, or not for this principal.',
  409: 'The state of things does not allow it now.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  422: 'The request is not valid; `details` says where.',
  429: 'Too many requests or streams; `Retry-After` says how long to wait.',
} as const

type Refusal = keyof typeof REFUSALS

const problemBody = { 'application/problem+json': { schema: problemSchema } }

/** What any request may be answered with, and the refusals of this one. */
export function refusals<const Status extends Refusal>(...statuses: readonly Status[]) {
  const all = [400, 401, 403, 429, ...statuses] as const
  const entries = all.map((status) => [status, { description: REFUSALS[status], content: problemBody }])
  return Object.fromEntries(entries) as Record<
    400 | 401 | 403 | 429 | Status,
    { description: string; content: typeof problemBody }
  >
}

/** Of a request with a body. */
export function refusalsOfBody<const Status extends Refusal>(...statuses: readonly Status[]) {
  return refusals<413 | 415 | 422 | Status>(413, 415, 422, ...statuses)
}
