// The door for inputs and outputs: what passes is stored and comes back as it was given.

import { encodeJson } from './json-encoder.js'
import { LIMITS } from './sizes.js'

export { LIMITS } from './sizes.js'
export { sanitizeText } from './text.js'

/**
 * JSON text of a job's input or output, checked so that PostgreSQL takes it. Nothing given counts as `{}` for an input and as
 * `null` for an output. Otherwise throws INVALID_INPUT or INVALID_OUTPUT with details { path, problem, limit?, received? }.
 */
export function encodeInput(value: unknown, what: 'input' | 'output'): string {
  if (value === undefined) return what === 'input' ? '{}' : 'null'
  return encodeJson(value, what === 'input' ? INPUT_RULES : OUTPUT_RULES)
}

const INPUT_RULES = {
  code: 'INVALID_INPUT',
  what: 'input',
  maxBytes: LIMITS.inputBytes,
  storedAs: 'jsonb',
  sortNames: false,
  undefinedParts: 'omit',
} as const

const OUTPUT_RULES = { ...INPUT_RULES, code: 'INVALID_OUTPUT', what: 'output', maxBytes: LIMITS.outputBytes } as const
