// Filters of jobs as people type them: `state:failed,cancelled type:csv_ingest since:24h input.year=2026`.

import { HoldfastError, isHoldfastError } from '../error/errors.js'
import type { Duration } from '../value/duration.js'
import { sanitizeText } from '../value/text.js'
import { checkJobFilter, type InputCondition, type JobFilter } from './job-filter.js'

/** What may stand before the colon, and the part of the filter it is. */
const LISTS = { state: 'states', type: 'types', queue: 'queues', id: 'ids', tag: 'tags' } as const
const SINGLES = {
  key: 'key',
  pipeline: 'pipelineId',
  worker: 'worker',
  error: 'error',
  since: 'since',
  until: 'until',
} as const

const NAMES = [...Object.keys(LISTS), ...Object.keys(SINGLES)]
const INPUT = 'input.'
// Far beyond what anyone types, and few enough steps for a reader of every character.
const MOST_CHARACTERS = 4000

/**
 * Terms are separated by white space, and all of them must hold. A value with white space in it, one of a list with a comma,
 * is written in double quotes, where a backslash takes the next character as it is. Throws INVALID_OPTION, with the place in `details`.
 */
export function parseFilter(text: string): JobFilter {
  if (typeof text !== 'string') throw new HoldfastError('INVALID_OPTION', 'a filter must be a text or an object')
  if (text.length > MOST_CHARACTERS) throw problemAt(MOST_CHARACTERS, `longer than ${MOST_CHARACTERS} characters`, '')
  const reader = new Reader(text)
  const found: Record<string, unknown> = {}
  const conditions: InputCondition[] = []
  for (reader.skipSpace(); !reader.isAtEnd; reader.skipSpace()) {
    const start = reader.place
    if (text.startsWith(INPUT, start)) conditions.push(readCondition(reader))
    else readTerm(reader, found)
    checkAt(start, conditions.length > 0 ? { ...found, input: conditions } : found)
    if (!reader.isAtEnd && !reader.isAtSpace) throw problemAt(reader.place, 'expected white space', reader.rest)
  }
  return checkJobFilter(conditions.length > 0 ? { ...found, input: conditions } : found)
}

/** The text that parses into this filter. */
export function formatFilter(filter: JobFilter): string {
  const lists = Object.entries(LISTS).flatMap(([name, part]) => {
    const values = filter[part]
    return values === undefined ? [] : [`${name}:${values.map(quoted).join(',')}`]
  })
  const singles = Object.entries(SINGLES).flatMap(([name, part]) => {
    const value = filter[part]
    if (value === undefined) return []
    return [`${name}:${quoted(value instanceof Date ? value.toISOString() : spelled(value))}`]
  })
  const conditions = (filter.input ?? []).map(({ path, value }) => {
    return `${INPUT}${path.map(quoted).join('.')}=${quoted(value)}`
  })
  return [...lists, ...singles, ...conditions].join(' ')
}

function spelled(value: string | number): string {
  return typeof value === 'number' ? `${value}ms` : value
}

function quoted(text: string): string {
  return /^[^\s",.=\\]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`
}

function readTerm(reader: Reader, found: Record<string, unknown>): void {
  const start = reader.place
  const name = reader.bare(/[a-z]/)
  if (!reader.take(':'))
    throw problemAt(start, `expected one of ${NAMES.join(', ')} with a colon, or ${INPUT}`, reader.rest)
  if (Object.hasOwn(LISTS, name)) {
    const part = LISTS[name as keyof typeof LISTS]
    const values = [...((found[part] as string[] | undefined) ?? [])]
    do values.push(reader.value(/[^\s",]/))
    while (reader.take(','))
    found[part] = values
  } else if (Object.hasOwn(SINGLES, name)) {
    const part = SINGLES[name as keyof typeof SINGLES]
    if (part in found) throw problemAt(start, `${name} is there already`, name)
    const place = reader.place
    const value = reader.value(/\S/)
    found[part] = part === 'since' || part === 'until' ? readMoment(value, place) : value
  } else {
    throw problemAt(start, `there is no ${JSON.stringify(sanitizeText(name, 50))}; there are ${NAMES.join(', ')}`, name)
  }
}

function readCondition(reader: Reader): InputCondition {
  const path: string[] = []
  reader.take(INPUT)
  do path.push(reader.value(/[^\s".=]/))
  while (reader.take('.'))
  if (!reader.take('=')) throw problemAt(reader.place, 'expected = and a value', reader.rest)
  // An empty value may stand without quotes.
  return { path, value: reader.isAtEnd || reader.isAtSpace ? '' : reader.value(/\S/) }
}

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/

function readMoment(text: string, place: number): Date | Duration {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return text as Duration
  const moment = new Date(MOMENT.test(text) ? text : Number.NaN)
  if (!Number.isNaN(moment.getTime())) return moment
  throw problemAt(place, 'expected a span like 24h, a day like 2026-01-31 or a moment like 2026-01-31T12:00Z', text)
}

/** What the rules of a filter's parts say, with the place of the term that broke them. */
function checkAt(place: number, filter: JobFilter): void {
  try {
    checkJobFilter(filter)
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    throw problemAt(place, error.message, '')
  }
}

function problemAt(place: number, problem: string, rest: string): HoldfastError {
  const received = sanitizeText(rest, 50)
  const shown = received === '' ? '' : `; received ${JSON.stringify(received)}`
  return new HoldfastError('INVALID_OPTION', `filter, at character ${place + 1}: ${problem}${shown}`, {
    details: { option: 'filter', position: place, received },
  })
}

class Reader {
  readonly #text: string
  place = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.place >= this.#text.length
  }

  get isAtSpace(): boolean {
    return /\s/.test(this.#text.charAt(this.place))
  }

  get rest(): string {
    return this.#text.slice(this.place)
  }

  skipSpace(): void {
    while (this.isAtSpace) this.place += 1
  }

  take(text: string): boolean {
    if (!this.#text.startsWith(text, this.place)) return false
    this.place += text.length
    return true
  }

  /** Reads characters of a kind; may return the empty text. */
  bare(kind: RegExp): string {
    const start = this.place
    while (!this.isAtEnd && kind.test(this.#text.charAt(this.place))) this.place += 1
    return this.#text.slice(start, this.place)
  }

  /** A text in quotes, or at least one character of a kind. */
  value(kind: RegExp): string {
    const start = this.place
    if (!this.take('"')) {
      const text = this.bare(kind)
      if (text === '') throw problemAt(start, 'expected a value', this.rest)
      return text
    }
    let text = ''
    while (!this.take('"')) {
      this.take('\\')
      if (this.isAtEnd) throw problemAt(start, 'a quote is not closed', this.#text.slice(start))
      text += this.#text.charAt(this.place)
      this.place += 1
    }
    return text
  }
}
