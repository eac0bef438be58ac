// Calls one function of the schema: the only kind of statement this program sends. SQLSTATEs become codes here, once.

import { codeOfSqlstate, HoldfastError } from '../domain/errors.js'
import { quoteIdentifier } from '../domain/schema-name.js'
import { isConnectionFault, type Queryable, type Row } from './connection.js'
import type { Store } from './open.js'

/** `invocation` is the function with its placeholders, as in `cancel_job_v1($1, $2)`; `columns` what to read of its rows. */
export interface Statement {
  readonly invocation: string
  readonly columns?: string
}

/** Runs it on a pooled connection as a prepared statement, or inside the caller's transaction. */
export async function call(store: Store, statement: Statement, values: unknown[], tx?: Queryable): Promise<Row[]> {
  const text = statementText(store.schema, statement)
  try {
    const database = tx ? undefined : await store.open()
    const { rows } = tx
      ? await tx.query(text, values)
      : await (database as NonNullable<typeof database>).prepared(text, values)
    return rows
  } catch (error) {
    throw translated(error)
  }
}

const TEXTS = new Map<string, string>()

function statementText(schema: string, { invocation, columns }: Statement): string {
  const id = `${schema} ${columns ?? ''} ${invocation}`
  let text = TEXTS.get(id)
  if (text === undefined) {
    text = `select ${columns ?? '*'} from ${quoteIdentifier(schema)}.${invocation} as c`
    TEXTS.set(id, text)
  }
  return text
}

/** Holdfast's own refusals and connection faults become HoldfastErrors; anything else stays the driver's error. */
export function translated(error: unknown): unknown {
  const { code, message, detail } = error as { code?: unknown; message?: string; detail?: string }
  const known = typeof code === 'string' ? codeOfSqlstate(code) : undefined
  if (known !== undefined) {
    return new HoldfastError(known, message?.replace(`${known}: `, ''), { cause: error, details: parseDetail(detail) })
  }
  if (error instanceof HoldfastError || !isConnectionFault(error)) return error
  return new HoldfastError('CONNECTION_FAILED', `the database cannot be reached: ${message}`, { cause: error })
}

function parseDetail(detail: string | undefined): Record<string, unknown> {
  try {
    const { code: _, ...details } = JSON.parse(detail ?? '{}')
    return details
  } catch {
    return {}
  }
}
