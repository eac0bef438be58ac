// The one way to refuse an option: say which, what is allowed, and what came.

import { sanitizeText } from '../value/text.js'
import { HoldfastError } from './errors.js'

/** An INVALID_OPTION to throw, worded `<what> must be <expected>; received <value>`. Never throws, whatever the value is. */
export function invalidOption(what: string, expected: string, received: unknown): HoldfastError {
  const shown = showValue(received)
  return new HoldfastError('INVALID_OPTION', `${what} must be ${expected}; received ${shown}`, {
    details: { option: what, expected, received: shown },
  })
}

// Room for a name of the greatest length and a little more; the reader wants to recognise the value, not to read it.
const SHOWN_BYTES = 160

function showValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(sanitizeText(value, SHOWN_BYTES))
  if (typeof value === 'bigint') return `${sanitizeText(String(value), SHOWN_BYTES)}n`
  if (typeof value === 'symbol') return 'a symbol'
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}
