// Each library's own transaction on one account, by the library's own means: begin, write, read.
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import knex from 'knex'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import { DataSource } from 'typeorm'
import type { BeginTransaction } from '../../src/index.js'

export interface Opened {
  /** Runs `work` in one transaction of the library; rolls back when it throws. */
  readonly begin: BeginTransaction
  /** Writes by the library, inside its transaction. */
  insert(tx: unknown, id: number): Promise<unknown>
  /** What the library has outside any transaction, which is no `tx`. */
  readonly outside: unknown
  close(): Promise<unknown>
}

const account = pgTable('account', { id: integer().primaryKey() })

/** By name, opened on `url`. Options that rename columns are on: nothing of ours may depend on them. */
export const LIBRARIES: Readonly<Record<string, (url: string) => Promise<Opened>>> = {
  async pg(url) {
    const pool = new pg.Pool({ connectionString: url })
    return {
      async begin(work) {
        const client = await pool.connect()
        try {
          await client.query('begin')
          await work(client)
          await client.query('commit')
        } catch (error) {
          await client.query('rollback')
          throw error
        } finally {
          client.release()
        }
      },
      insert: (tx, id) => (tx as pg.PoolClient).query('insert into account values ($1)', [id]),
      outside: pool,
      close: () => pool.end(),
    }
  },

  async 'postgres.js'(url) {
    const sql = postgres(url, { transform: postgres.camel, onnotice: () => {} })
    return {
      begin: (work) => sql.begin(work),
      insert: (tx, id) => (tx as postgres.TransactionSql)`insert into account values (${id})`,
      outside: sql,
      close: () => sql.end(),
    }
  },

  async 'Drizzle on pg'(url) {
    const pool = new pg.Pool({ connectionString: url })
    const db = drizzleOnPg(pool, { casing: 'snake_case' })
    return {
      begin: (work) => db.transaction(work),
      insert: (tx, id) => (tx as typeof db).insert(account).values({ id }),
      outside: db,
      close: () => pool.end(),
    }
  },

  async 'Drizzle on postgres.js'(url) {
    const sql = postgres(url, { onnotice: () => {} })
    const db = drizzleOnPostgresJs(sql)
    return {
      begin: (work) => db.transaction(work),
      insert: (tx, id) => (tx as typeof db).execute(drizzleSql`insert into account values (${id})`),
      outside: db,
      close: () => sql.end(),
    }
  },

  async Kysely(url) {
    const pool = new pg.Pool({ connectionString: url })
    const db = new Kysely<{ account: { id: number } }>({
      dialect: new PostgresDialect({ pool }),
      plugins: [new CamelCasePlugin()],
    })
    return {
      begin: (work) => db.transaction().execute(work),
      insert: (tx, id) => (tx as typeof db).insertInto('account').values({ id }).execute(),
      outside: db,
      close: () => db.destroy(),
    }
  },

  async Knex(url) {
    const db = knex({ client: 'pg', connection: url, postProcessResponse: shout })
    return {
      begin: (work) => db.transaction(work),
      insert: (tx, id) => (tx as typeof db)('account').insert({ id }),
      outside: db,
      close: () => db.destroy(),
    }
  },

  async TypeORM(url) {
    const db = await new DataSource({ type: 'postgres', url }).initialize()
    return {
      begin: (work) => db.transaction(work),
      insert: (tx, id) => (tx as typeof db.manager).query('insert into account values ($1)', [id]),
      outside: db.manager,
      close: () => db.destroy(),
    }
  },
}

/** As hooks that map names do it. */
function shout(result: unknown): unknown {
  const rows = (result as { rows?: Record<string, unknown>[] } | null)?.rows
  if (!rows) return result
  const renamed = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value])),
  )
  return { ...(result as object), rows: renamed }
}
