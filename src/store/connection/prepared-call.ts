// One call of a prepared statement. The driver's own query asks for the row description at each call, which costs as much as
// reading the answer; a prepared statement's description never changes, so it is asked for once per session.

import pg from 'pg'
import { driverError } from './connection-faults.js'

/** One result row of the driver, with the snake_case names of its columns. */
export type Row = Record<string, unknown>

/** Called with the rows of a call, or with its error. */
export type OnRows = (error: Error | null, rows?: Row[]) => void

/** Without a name no session keeps the statement. */
export interface PreparedStatement {
  readonly name: string | undefined
  readonly text: string
}

/** A member of the driver's connection that its types omit. */
interface DriverConnection extends pg.Connection {
  /** By name, the text of each statement that this session has prepared. */
  readonly parsedStatements: Readonly<Record<string, string>>
}

/** The driver's own row parser, which its types omit. */
interface RowReader {
  addFields(fields: readonly pg.FieldDef[]): void
  parseRow(values: readonly (string | null)[]): Row
}

const { Result, utils } = pg as unknown as {
  readonly Result: new (rowMode: undefined, types: Pick<pg.ClientBase, 'getTypeParser'>) => RowReader
  readonly utils: { readonly prepareValue: (value: unknown) => Buffer | string | null }
}

/** By session and name. The server refuses to run a prepared statement whose row description has changed. */
const READERS = new WeakMap<pg.Connection, Map<string, RowReader>>()

/** Runs the statement on `client`; `onRows` may be called more than once when the connection breaks. */
export function callPrepared(
  client: pg.ClientBase,
  statement: PreparedStatement,
  values: readonly unknown[],
  onRows: OnRows,
): void {
  const onError = (error: unknown) => onRows(driverError(error) as Error)
  if (!speaksProtocol(client)) {
    client.query({ ...statement, values: [...values] }).then(({ rows }) => onRows(null, rows), onError)
    return
  }
  const call = new PreparedCall(client, statement, values, onRows)
  const returned: unknown = client.query(call)
  // A wrapper of the application's own client may return a promise.
  if (returned !== call) Promise.resolve(returned).catch(onError)
}

/** True when the client speaks the protocol itself, one query after the other. */
function speaksProtocol(client: pg.ClientBase): boolean {
  const { connection, pipeline } = client as { connection?: Partial<pg.Connection>; pipeline?: boolean }
  return typeof connection?.bind === 'function' && !pipeline
}

/** The driver defines the names of these members, and tracing libraries wrap `callback`. */
class PreparedCall implements pg.Submittable {
  readonly text: string
  readonly name: string | undefined
  readonly values: readonly unknown[]
  callback: OnRows
  readonly #client: pg.ClientBase
  readonly #rows: Row[] = []
  #readers: Map<string, RowReader> | undefined
  #reader: RowReader | undefined
  #misread: Error | undefined

  constructor(client: pg.ClientBase, { name, text }: PreparedStatement, values: readonly unknown[], callback: OnRows) {
    this.#client = client
    this.name = name
    this.text = text
    this.values = values
    this.callback = callback
  }

  submit(connection: pg.Connection): null {
    const { name = '', text } = this
    const { stream } = connection
    this.#readers = readersOf(connection)
    this.#reader = name === '' ? undefined : this.#readers.get(name)
    stream.cork()
    try {
      if (this.#reader === undefined) {
        const isParsed = name !== '' && (connection as DriverConnection).parsedStatements[name] !== undefined
        if (!isParsed) connection.parse({ name, text, types: [] }, true)
        connection.describe({ type: 'S', name }, true)
      }
      const values = this.values as string[]
      connection.bind({ portal: '', statement: name, values, valueMapper: utils.prepareValue }, true)
      connection.execute({ portal: '' }, true)
      connection.sync()
    } finally {
      stream.uncork()
    }
    return null
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    const reader = new Result(undefined, this.#client)
    reader.addFields(fields)
    this.#reader = reader
    if (this.name) this.#readers?.set(this.name, reader)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push((this.#reader as RowReader).parseRow(fields))
    } catch (error) {
      this.#misread = error as Error
    }
  }

  /** The transaction commits with the next message. */
  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(this.#misread ?? null, this.#rows)
  }

  handleError(error: Error): void {
    this.callback(driverError(error) as Error)
  }
}

function readersOf(connection: pg.Connection): Map<string, RowReader> {
  let readers = READERS.get(connection)
  if (readers === undefined) {
    readers = new Map()
    READERS.set(connection, readers)
  }
  return readers
}
