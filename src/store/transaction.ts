// Turns a transaction of the caller's library into a Queryable. Libraries are recognised by shape, so that none of them has to
// be installed.

import pg from 'pg'
import { HoldfastError } from '../domain/error/errors.js'
import type { Queryable, Row } from './connection/connection.js'

/** One library: how its objects are recognised, whether one is inside a transaction, and how it sends a statement. */
interface Library {
  readonly name: string
  isOf(tx: Shape): boolean
  isOpen(tx: Shape): boolean
  /** What the caller should pass instead. */
  readonly wanted: string
  asQueryable(tx: Shape): Queryable
}

/** An object of unknown origin: any property may be there, none is trusted. */
type Shape = Readonly<Record<string, unknown>>

export function asQueryable(tx: unknown): Queryable {
  const library = isShape(tx) ? LIBRARIES.find((each) => each.isOf(tx)) : undefined
  if (!library) {
    throw new HoldfastError('INVALID_OPTION', `tx must be the transaction of your own writes: ${KNOWN}`, {
      details: { received: tx === null ? 'null' : typeof tx },
    })
  }
  if (!library.isOpen(tx as Shape)) {
    throw new HoldfastError('INVALID_OPTION', `tx is of ${library.name}, but not in a transaction: ${library.wanted}`, {
      details: { library: library.name },
    })
  }
  return library.asQueryable(tx as Shape)
}

const prisma: Library = {
  name: 'Prisma',
  isOf: (tx) => has(tx, '$queryRawUnsafe'),
  // What $transaction hands out can neither connect nor begin another one.
  isOpen: (tx) => !has(tx, '$connect'),
  wanted: 'pass what prisma.$transaction hands to its callback',
  asQueryable: (tx) => ({
    async query(text, values = []) {
      try {
        return { rows: await method<Promise<Row[]>>(tx, '$queryRawUnsafe')(text, ...values) }
      } catch (error) {
        throw serverErrorOf(error)
      }
    },
  }),
}

const postgresJs: Library = {
  name: 'postgres.js',
  isOf: (tx) => isCallable(tx) && has(tx, 'unsafe'),
  isOpen: (tx) => has(tx, 'savepoint') || has(tx, 'release'),
  wanted: 'pass what sql.begin hands to its callback',
  // Raw, so that the transforms and parsers of the caller's own options leave what is read here alone.
  asQueryable: (tx) => ({
    async query(text, values = []) {
      const question = method<{ raw(): Promise<RawResult> }>(tx, 'unsafe')(text, values)
      return { rows: rowsOfRaw(await question.raw()) }
    },
  }),
}

const drizzle: Library = {
  name: 'Drizzle',
  isOf: (tx) => isShape(tx.session) && isShape(tx.dialect) && has(tx, 'execute'),
  isOpen: (tx) => has(tx, 'rollback'),
  wanted: 'pass what db.transaction hands to its callback',
  // The driver's own transaction, whichever driver it is.
  asQueryable: (tx) => asQueryable((tx.session as Shape).client),
}

const kysely: Library = {
  name: 'Kysely',
  isOf: (tx) => has(tx, 'executeQuery') && has(tx, 'withoutPlugins'),
  isOpen: (tx) => tx.isTransaction === true,
  wanted: 'pass what db.transaction().execute hands to its callback',
  asQueryable: (tx) => {
    // A plugin that renames columns would rename ours.
    const execute = method<Promise<{ rows: Row[] }>>(method<Shape>(tx, 'withoutPlugins')(), 'executeQuery')
    return { query: (sql, parameters = []) => execute(compiled(sql, parameters)) }
  },
}

const knex: Library = {
  name: 'Knex',
  isOf: (tx) => isCallable(tx) && has(tx, 'raw') && isShape(tx.client),
  isOpen: (tx) => tx.isTransaction === true && !method<boolean>(tx, 'isCompleted')(),
  wanted: 'pass what knex.transaction hands to its callback, while it is open',
  // The transaction's pg client: raw() has placeholders of its own, and hooks that rename columns.
  asQueryable: (tx) => ({
    async query(text, values) {
      const client = await method<Promise<Queryable>>(tx.client as Shape, 'acquireConnection')()
      return client.query(text, values)
    },
  }),
}

const typeorm: Library = {
  name: 'TypeORM',
  isOf: (tx) => has(tx, 'query') && (has(tx, 'getRepository') || 'isTransactionActive' in tx),
  isOpen: (tx) => runnerOf(tx)?.isTransactionActive === true,
  wanted: 'pass what dataSource.transaction hands to its callback, or a query runner that has begun one',
  asQueryable: (tx) => ({
    async query(text, values) {
      return { rows: await method<Promise<Row[]>>(runnerOf(tx) as Shape, 'query')(text, values) }
    },
  }),
}

const driver: Library = {
  name: 'the driver',
  isOf: (tx) => has(tx, 'query'),
  // A pool, or PGlite itself, takes another connection or turn for each statement.
  isOpen: (tx) => !('totalCount' in tx && has(tx, 'connect')) && !has(tx, 'transaction'),
  wanted: 'pass the client that has begun one, or what pglite.transaction hands to its callback',
  asQueryable: (tx) => tx as unknown as Queryable,
}

const LIBRARIES: readonly Library[] = [prisma, postgresJs, drizzle, kysely, knex, typeorm, driver]
const KNOWN = 'of pg, PGlite, postgres.js, Drizzle, Kysely, Knex, TypeORM or Prisma'

function isShape(value: unknown): value is Shape {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function isCallable(shape: unknown): boolean {
  return typeof shape === 'function'
}

function has(shape: Shape, name: string): boolean {
  return typeof shape[name] === 'function'
}

function method<Result>(shape: Shape, name: string): (...values: unknown[]) => Result {
  return (shape[name] as (...values: unknown[]) => Result).bind(shape)
}

function runnerOf(tx: Shape): Shape | undefined {
  const runner = 'isTransactionActive' in tx ? tx : tx.queryRunner
  return isShape(runner) ? runner : undefined
}

/** As Kysely's own CompiledQuery.raw makes it. */
function compiled(sql: string, parameters: unknown[]) {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
  return { sql, parameters, query, queryId: { queryId: 'holdfast' } }
}

/** What PostgreSQL said, which Prisma wraps twice. */
function serverErrorOf(error: unknown): unknown {
  const { meta } = error as { meta?: { driverAdapterError?: { cause?: Record<string, unknown> } } }
  const said = meta?.driverAdapterError?.cause
  if (typeof said?.originalCode !== 'string') return error
  const { originalCode: code, originalMessage: message, detail } = said
  return Object.assign(new Error(String(message), { cause: error }), { code, detail })
}

type RawResult = readonly (readonly (Uint8Array | null)[])[] & {
  readonly columns: readonly { readonly name: string; readonly type: number }[]
}

function rowsOfRaw(result: RawResult): Row[] {
  const columns = result.columns.map(({ name, type }) => ({
    name: snakeCase(name),
    parse: pg.types.getTypeParser(type),
  }))
  return result.map((values) =>
    Object.fromEntries(
      columns.map(({ name, parse }, place) => {
        const value = values[place]
        return [name, value ? parse(Buffer.from(value).toString('utf8')) : null]
      }),
    ),
  )
}

/** Undoes postgres.js' transforms of names, which our plain names survive: camel, pascal and kebab. */
function snakeCase(name: string): string {
  return name
    .replace(/-/g, '_')
    .replace(/(?<=.)[A-Z]/g, '_$&')
    .toLowerCase()
}
