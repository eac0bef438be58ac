// One call of a statement that its session keeps. The driver's own query asks each time what the rows look like, and is ready
// for whatever may come; of a prepared statement that is known once it was asked, and asking costs as much as reading the answer.

import pg from 'pg'

/** One result row as the driver gives it. Names are snake_case; rows.ts turns them into the domain's words. */
export type Row = Record<string, unknown>

/** Hears the rows of a call, or why there are none. */
export type OnRows = (error: Error | null, rows?: Row[]) => void

/** A statement as sessions keep it; without a name none does. */
export interface KeptStatement {
  readonly name: string | undefined
  readonly text: string
}

/** What the driver's connection has beside what its types tell. */
interface DriverConnection extends pg.Connection {
  /** By name, the text of each statement that this session has prepared. */
  readonly parsedStatements: Readonly<Record<string, string>>
}

/** Reads rows as the driver does. Its types do not tell, but it is what every result of a query is made with. */
interface RowReader {
  addFields(fields: readonly pg.FieldDef[]): void
  parseRow(values: readonly (string | null)[]): Row
}

const { Result, utils } = pg as unknown as {
  readonly Result: new (rowMode: undefined, types: Pick<pg.ClientBase, 'getTypeParser'>) => RowReader
  readonly utils: { readonly prepareValue: (value: unknown) => Buffer | string | null }
}

/** By session and name: what a statement's rows look like does not change, the server would refuse to run it. */
const READERS = new WeakMap<pg.Connection, Map<string, RowReader>>()

/** Asks `client` for the statement's rows; `onRows` may hear more than once where the connection breaks. */
export function callPrepared(
  client: pg.ClientBase,
  statement: KeptStatement,
  values: readonly unknown[],
  onRows: OnRows,
): void {
  if (!speaksForItself(client)) {
    client.query({ ...statement, values: [...values] }).then(({ rows }) => onRows(null, rows), onRows)
    return
  }
  const call = new PreparedCall(client, statement, values, onRows)
  const returned: unknown = client.query(call)
  // Whoever stands before the caller's own client may make a promise of it.
  if (returned !== call) Promise.resolve(returned).catch(onRows)
}

/** Whether the client speaks the protocol itself, and answers one query before it sends the next. */
function speaksForItself(client: pg.ClientBase): boolean {
  const { connection, pipeline } = client as { connection?: Partial<pg.Connection>; pipeline?: boolean }
  return typeof connection?.bind === 'function' && !pipeline
}

/** What the driver takes to submit; the names of its members are the driver's, and those that look on at it wrap `callback`. */
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

  constructor(client: pg.ClientBase, { name, text }: KeptStatement, values: readonly unknown[], callback: OnRows) {
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

  /** Nothing is committed yet, if it is to be: that is told with the next message. */
  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(this.#misread ?? null, this.#rows)
  }

  handleError(error: Error): void {
    this.callback(error)
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
