// A path to a value that the HTTP API never shows: `card.number`, `recipients.*.email`.

import { invalidOption } from '../error/invalid-option.js'

/** Property names or positions, `*` for any. The path means the value there and whatever lies below it. */
export type RedactedPath = string

const EXPECTED = 'a list of paths like card.number or recipients.*.email'

/** Throws INVALID_OPTION: a path that is not understood would show what it was to hide. */
export function checkRedactedPaths(what: string, paths: readonly RedactedPath[]): readonly RedactedPath[] {
  if (!Array.isArray(paths)) throw invalidOption(what, EXPECTED, paths)
  for (const path of paths as readonly unknown[]) {
    if (typeof path !== 'string' || path.split('.').includes('')) throw invalidOption(what, EXPECTED, path)
  }
  return Object.freeze([...paths])
}
