// JSON that was typed into a command line.

import { invalidOption } from '../domain/error/invalid-option.js'

export function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidOption(what, `JSON, as in '{"name": "Ada"}'`, text)
  }
}
