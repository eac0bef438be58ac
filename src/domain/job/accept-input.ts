// What a schema said of an input, as a value or as a refusal that lists every issue.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { HoldfastError } from '../error/errors.js'

export function acceptInput(type: string, result: StandardSchemaV1.Result<unknown>): unknown {
  if (result.issues === undefined) return result.value
  const issues = result.issues.map(({ message, path }) => ({
    message,
    path: path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') ?? '',
  }))
  const first = issues[0]
  const where = first?.path ? `${first.path}: ` : ''
  throw new HoldfastError('INVALID_INPUT', `the input of ${type} does not fit its schema: ${where}${first?.message}`, {
    details: { type, issues },
  })
}
