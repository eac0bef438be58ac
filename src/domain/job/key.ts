// The text of a key: what must not run twice at once. Equal values have one text, in whatever order their properties are.

import { invalidOption } from '../error/invalid-option.js'
import { encodeJson } from '../value/json-encoder.js'
import { LIMITS } from '../value/sizes.js'
import { textProblem, utf8Bytes } from '../value/text.js'

/**
 * A string stands for itself; anything else becomes JSON with property names sorted at every level, where null and undefined
 * are both the value null. A string that spells such JSON names the same key, so a key can be copied from a listing.
 * Throws INVALID_OPTION for what JSON cannot express and for a text of more than 512 bytes.
 */
export function canonicalKey(key: string | number | boolean | null | object): string {
  return typeof key === 'string' ? checkedText(key) : encodeJson(key, KEY_RULES)
}

const KEY_RULES = {
  code: 'INVALID_OPTION',
  what: 'key',
  maxBytes: LIMITS.keyBytes,
  storedAs: 'text',
  sortNames: true,
  undefinedParts: 'null',
} as const

function checkedText(key: string): string {
  const expected = `a text of 1 to ${LIMITS.keyBytes} bytes that PostgreSQL can store`
  const isTooLong = key.length > LIMITS.keyBytes || utf8Bytes(key) > LIMITS.keyBytes
  if (key === '' || isTooLong || textProblem(key) !== undefined) throw invalidOption('key', expected, key)
  return key
}
