// Cron patterns: which ones are accepted, and the local times that they match. Time zones are handled elsewhere.

import { Cron } from 'croner'
import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'

export interface CronPattern {
  /** The first local time at or after this one that fits, in milliseconds as if it were UTC. */
  atOrAfter(local: number): number | undefined
  /** The hours are `*` or a step of it, so the pattern counts hours instead of naming times of day. */
  readonly isEveryHour: boolean
}

/** Throws INVALID_OPTION unless the text has 5 or 6 fields and at most 100 characters, and matches some time. */
export function cronPattern(text: string): CronPattern {
  let pattern = PATTERNS.get(text)
  if (!pattern) {
    pattern = parsed(text)
    if (PATTERNS.size >= REMEMBERED) PATTERNS.clear()
    PATTERNS.set(text, pattern)
  }
  return pattern
}

const PATTERNS = new Map<string, CronPattern>()
const REMEMBERED = 1000
const LONGEST = 100

function parsed(text: string): CronPattern {
  // The parser reads `?` as the moment of parsing, and accepts nicknames and dates, which are not fields.
  const fields =
    typeof text === 'string' && text.length <= LONGEST && !/[@?]/.test(text) ? text.trim().split(/\s+/) : []
  if (fields.length !== 5 && fields.length !== 6) {
    throw invalidOption('cron', `5 fields, or 6 with seconds first, in at most ${LONGEST} characters`, text)
  }
  const cron = parsedBy(text)
  const atOrAfter = (local: number) => cron.nextRun(new Date(Math.ceil(local / 1000) * 1000 - 1))?.getTime()
  if (atOrAfter(0) === undefined) throw invalidOption('cron', 'a pattern that comes at some time', text)
  return { atOrAfter, isEveryHour: fields.at(-4)?.startsWith('*') === true }
}

function parsedBy(text: string): Cron {
  try {
    return new Cron(text, { timezone: 'UTC', mode: '5-or-6-parts', paused: true })
  } catch (error) {
    const { message } = error as Error
    throw new HoldfastError('INVALID_OPTION', `cron ${JSON.stringify(text)} cannot be read: ${message}`, {
      cause: error,
      details: { option: 'cron', received: text },
    })
  }
}
