// Reads the columns of one row and checks their types, so that a function that returns something else than this program
// expects fails here, with its name and the column, and not somewhere in the application.

import { HoldfastError } from '../../domain/error/errors.js'
import type { Row } from '../connection/connection.js'

/**
 * The application may have its own parsers for bigint and timestamptz, so whole numbers come as number, bigint or text, and
 * moments as Date or text.
 */
export class RowReader {
  readonly #row: Row
  readonly #source: string

  /** `source` names the function in an error, as in `list_queues_v1($1, $2)`. */
  constructor(row: Row, source: string) {
    this.#row = row
    this.#source = source
  }

  isNull(column: string): boolean {
    return this.#row[column] === null || this.#row[column] === undefined
  }

  text(column: string): string {
    const value = this.#row[column]
    return typeof value === 'string' ? value : this.#refuse(column, 'a text')
  }

  textOrNull(column: string): string | null {
    return this.isNull(column) ? null : this.text(column)
  }

  oneOf<T extends string>(column: string, known: readonly T[]): T {
    return known.find((each) => each === this.#row[column]) ?? this.#refuse(column, `one of ${known.join(', ')}`)
  }

  oneOfOrNull<T extends string>(column: string, known: readonly T[]): T | null {
    return this.isNull(column) ? null : this.oneOf(column, known)
  }

  boolean(column: string): boolean {
    const value = this.#row[column]
    return typeof value === 'boolean' ? value : this.#refuse(column, 'a boolean')
  }

  number(column: string): number {
    return toNumber(this.#row[column]) ?? this.#refuse(column, 'a number')
  }

  numberOrNull(column: string): number | null {
    return this.isNull(column) ? null : this.number(column)
  }

  /** A bigint as text. */
  id(column: string): string {
    return toId(this.#row[column]) ?? this.#refuse(column, 'a whole number')
  }

  idOrNull(column: string): string | null {
    return this.isNull(column) ? null : this.id(column)
  }

  moment(column: string): Date {
    const value = this.#row[column]
    const moment = typeof value === 'string' ? new Date(value) : value
    return moment instanceof Date && !Number.isNaN(moment.getTime()) ? moment : this.#refuse(column, 'a moment')
  }

  momentOrNull(column: string): Date | null {
    return this.isNull(column) ? null : this.moment(column)
  }

  texts(column: string): string[] {
    return this.#list(column, 'a list of texts', (item) => (typeof item === 'string' ? item : undefined))
  }

  ids(column: string): string[] {
    return this.#list(column, 'a list of whole numbers', toId)
  }

  numbers(column: string): number[] {
    return this.#list(column, 'a list of numbers', toNumber)
  }

  /** Of any values, null too. */
  list(column: string): unknown[] {
    const value = this.#row[column]
    return Array.isArray(value) ? value : this.#refuse(column, 'a list')
  }

  /** Any JSON value; null where there is none. */
  json(column: string): unknown {
    return this.#row[column] ?? null
  }

  /** A JSON object with any members. */
  object(column: string): Record<string, unknown> {
    const value = this.#row[column]
    return isObject(value) ? value : this.#refuse(column, 'an object')
  }

  /** A JSON object, to read its members like columns. */
  nested(column: string): RowReader {
    return new RowReader(this.object(column), `${column} of ${this.#source}`)
  }

  nestedOrNull(column: string): RowReader | null {
    return this.isNull(column) ? null : this.nested(column)
  }

  #list<T>(column: string, expected: string, toItem: (value: unknown) => T | undefined): T[] {
    const value = this.#row[column]
    if (!Array.isArray(value)) return this.#refuse(column, expected)
    return value.map((item) => toItem(item) ?? this.#refuse(column, expected))
  }

  #refuse(column: string, expected: string): never {
    throw misread(this.#source, column, expected, this.#row[column])
  }
}

/** For readers of values that have a shape of their own. */
export function misread(source: string, column: string, expected: string, received: unknown): HoldfastError {
  const type = received === null ? 'null' : Array.isArray(received) ? 'a list' : typeof received
  const name = source.replace(/\(.*/s, '')
  return new HoldfastError(
    'UNEXPECTED',
    `${name} returned ${type} as "${column}" instead of ${expected}: run \`holdfast doctor\` to compare schema and program`,
    { details: { function: name, column, expected, received: type } },
  )
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && value !== '' && !Number.isNaN(Number(value)) ? Number(value) : undefined
}

function toId(value: unknown): string | undefined {
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value)
  if (isWhole) return String(value)
  return typeof value === 'string' && /^-?\d+$/.test(value) ? value : undefined
}
