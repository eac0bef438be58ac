// Calls one function of the schema: the only kind of statement this program sends.

import { quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Store } from '../store.js'
import type { Queryable, Row } from './connection.js'
import type { KeptFor } from './kept-connections.js'
import { translated } from './translate-error.js'

/** `invocation` is the function with its placeholders, as in `cancel_job_v1($1, $2)`; `columns` what to read of its rows. */
export interface Statement {
  readonly invocation: string
  readonly columns?: string
  /** Instead of `columns`, for a function that gives one value: its name in the row. As a table it would cost 20 µs more. */
  readonly value?: string
  /** How long to wait for the answer before the connection is given up; default 10 s. */
  readonly answerMs?: number
  /** 'callers': the application's own code waits for the answer, or the next step of a pipeline does. */
  readonly keptFor?: KeptFor
}

// Nearly everything takes milliseconds, and on a line that has gone dead nobody should wait for much longer than that.
const ANSWER_MS = 10_000
/** For statements that grow with what they are given, and may wait for others. */
export const BULK_MS = 60_000

/** Where to call. A thread that sends everything through one session of its own need not load what opens databases. */
export type Callee = Pick<Store, 'schema' | 'open'>

/** Runs it on a pooled connection as a prepared statement, or inside the caller's transaction. */
export async function call(store: Callee, statement: Statement, values: unknown[], tx?: Queryable): Promise<Row[]> {
  if (tx === undefined) return askPool(store, statement, values)
  try {
    return (await tx.query(statementText(store.schema, statement), values)).rows
  } catch (error) {
    throw translated(error)
  }
}

/** As call without a transaction; `act` is done with the first row in the turn in which it is read: see PreparedManner. */
export async function callAndAct<T>(
  store: Callee,
  statement: Statement,
  values: unknown[],
  act: (row: Row | undefined) => T,
): Promise<T> {
  let result: T | undefined
  await askPool(store, statement, values, (rows) => {
    result = act(rows[0])
  })
  return result as T
}

async function askPool(
  store: Callee,
  statement: Statement,
  values: unknown[],
  onAnswer?: (rows: Row[]) => void,
): Promise<Row[]> {
  const { answerMs = ANSWER_MS, keptFor } = statement
  try {
    const database = await store.open()
    const text = statementText(store.schema, statement)
    return (await database.prepared(text, values, { answerMs, keptFor, onAnswer })).rows
  } catch (error) {
    throw translated(error)
  }
}

// By the statement itself: most are constants, and to look one up by its text takes as long as to write it.
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
