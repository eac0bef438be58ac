// The name of the schema that holds Holdfast's tables. It is written into SQL text, so only plain names are taken.

import { invalidOption } from '../error/invalid-option.js'

export const DEFAULT_SCHEMA = 'holdfast'

/** Throws INVALID_OPTION for a name that would need quoting, is too long, or belongs to PostgreSQL or to everybody. */
export function checkSchemaName(name: string): string {
  const isPlain = typeof name === 'string' && /^[a-z_][a-z0-9_]*$/.test(name) && name.length <= MAX_LENGTH
  if (!isPlain) {
    const expected = `at most ${MAX_LENGTH} lower-case letters, digits and underscores, not beginning with a digit`
    throw invalidOption('schema', expected, name)
  }
  if (name.startsWith('pg_') || TAKEN.has(name)) throw invalidOption('schema', 'a schema of its own', name)
  return name
}

// PostgreSQL cuts names at 63 bytes; what is derived from this one has 23 left.
const MAX_LENGTH = 40
const TAKEN: ReadonlySet<string> = new Set(['public', 'information_schema'])

/** The name as PostgreSQL reads it in SQL text, whatever it holds. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
