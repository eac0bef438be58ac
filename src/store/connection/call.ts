// Calls one function of the schema: the only kind of statement this program sends.

import { quoteIdentifier } from '../../domain/value/schema-name.js'
import { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'
import type { Queryable, Row } from './connection.js'
import { translated } from './translate-error.js'

/** `invocation` is the function with its placeholders, as in `cancel_job_v1($1, $2)`; `columns` are the columns to read. */
export interface Statement {
  readonly invocation: string
  readonly columns?: string
  /** Instead of `columns`, for a function that returns one value: its name in the row. `select * from` would cost 20 µs more. */
  readonly value?: string
  /** How long to wait for the answer before the connection is closed; default 10 s. */
  readonly answerMs?: number
}

// Nearly every call takes milliseconds, so a longer wait means a dead connection.
const ANSWER_MS = 10_000
/** For statements whose duration grows with their input, and that may wait for locks. */
export const BULK_MS = 60_000

/** The part of a Store that calls need. A thread with one session of its own provides it without the code that opens databases. */
export type Callee = Pick<Store, 'schema' | 'open'>

/** Runs it on a pooled connection as a prepared statement, or inside the caller's transaction. */
export async function call(
  store: Callee,
  statement: Statement,
  values: unknown[],
  tx?: Queryable,
): Promise<RowReader[]> {
  return (await callRaw(store, statement, values, tx)).map((row) => new RowReader(row, statement.invocation))
}

/** For a function that returns exactly one row. */
export async function callOne(
  store: Callee,
  statement: Statement,
  values: unknown[],
  tx?: Queryable,
): Promise<RowReader> {
  return new RowReader((await callRaw(store, statement, values, tx))[0] ?? {}, statement.invocation)
}

async function callRaw(store: Callee, statement: Statement, values: unknown[], tx?: Queryable): Promise<Row[]> {
  if (tx === undefined) return askPool(store, statement, values)
  try {
    return (await tx.query(statementText(store.schema, statement), values)).rows
  } catch (error) {
    throw translated(error)
  }
}

/** Like `call` without a transaction; `act` gets the first row in the turn in which it is read: see PreparedOptions. */
export async function callAndAct<T>(
  store: Callee,
  statement: Statement,
  values: unknown[],
  act: (row: RowReader) => T,
): Promise<T> {
  let result: T | undefined
  await askPool(store, statement, values, (rows) => {
    result = act(new RowReader(rows[0] ?? {}, statement.invocation))
  })
  return result as T
}

async function askPool(
  store: Callee,
  statement: Statement,
  values: unknown[],
  onAnswer?: (rows: Row[]) => void,
): Promise<Row[]> {
  const { answerMs = ANSWER_MS } = statement
  try {
    const database = await store.open()
    const text = statementText(store.schema, statement)
    return (await database.prepared(text, values, { answerMs, onAnswer })).rows
  } catch (error) {
    throw translated(error)
  }
}

// Keyed by the statement object: most are constants, and a lookup by text takes as long as composing it.
const TEXTS = new Map<string, WeakMap<Statement, string>>()

function statementText(schema: string, statement: Statement): string {
  let texts = TEXTS.get(schema)
  if (texts === undefined) {
    texts = new WeakMap()
    TEXTS.set(schema, texts)
  }
  let text = texts.get(statement)
  if (text === undefined) {
    text = writeText(`${quoteIdentifier(schema)}.`, statement)
    texts.set(statement, text)
  }
  return text
}

function writeText(own: string, { invocation, columns, value }: Statement): string {
  return value === undefined
    ? `select ${columns?.replaceAll('holdfast.', own) ?? '*'} from ${own}${invocation} as c`
    : `select ${own}${invocation} as ${value}`
}
