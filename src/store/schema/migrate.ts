// Brings a database to this program's schema.

import { createHash } from 'node:crypto'
import { checkSchemaName, DEFAULT_SCHEMA, quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Queryable } from '../connection/connection.js'
import {
  type AppliedMigrations,
  latestRevision,
  missingMigrations,
  NOTHING_APPLIED,
  type SchemaOptions,
  toApplied,
} from './check-schema.js'
import { type Migration, readMigrations, readRepeatables } from './sql-files.js'

export interface MigrationReport {
  readonly schema: string
  /** Names of the migrations that this call applied. */
  readonly applied: readonly string[]
  readonly revision: number
}

export interface MigrateOptions extends SchemaOptions {
  /** Notes in the schema's comment what was applied, and applies nothing while it still is that: for callers that migrate at every start. */
  readonly remembers?: boolean | undefined
}

/** Applies what is missing in one transaction: all of it or nothing. `session` must be one connection, not a pool. */
export async function migrate(session: Queryable, options: MigrateOptions = {}): Promise<MigrationReport> {
  const schema = checkSchemaName(options.schema ?? DEFAULT_SCHEMA)
  const migrations = await readMigrations(schema)
  const repeatables = await readRepeatables(schema)
  const memory = options.remembers ? memoryOf([...migrations.map(({ text }) => text), ...repeatables]) : undefined
  if (memory && (await readMemory(session, schema)) === memory)
    return { schema, applied: [], revision: latestRevision(migrations) }

  await session.query('begin')
  try {
    await session.query(`set local check_function_bodies = off`)
    // Migrations of one schema take turns, however long that takes.
    await session.query(`select pg_advisory_xact_lock(hashtextextended('holdfast.migrate:' || $1, 7245904))`, [schema])
    // A table that someone holds must not queue up all the others behind this transaction.
    await session.query(`set local lock_timeout = '5s'`)
    const applied = await readApplied(session, schema)
    const missing = missingMigrations(migrations, applied, options)
    for (const migration of missing) await session.query(migration.text)
    for (const text of repeatables) await session.query(text)
    for (const migration of missing) await recordMigration(session, schema, migration)
    await session.query(`select ${quoteIdentifier(schema)}.make_outcome_partitions_v1()`)
    if (memory) await session.query(`comment on schema ${quoteIdentifier(schema)} is '${memory}'`)
    await session.query('commit')
    return { schema, applied: missing.map(({ name }) => name), revision: latestRevision(migrations) }
  } catch (error) {
    await session.query('rollback').catch(() => {}) // the connection may be gone; the server rolls back by itself
    throw error
  }
}

function memoryOf(texts: readonly string[]): string {
  return `Holdfast ${createHash('sha256').update(texts.join('\0')).digest('hex')}`
}

async function readMemory(session: Queryable, schema: string): Promise<unknown> {
  const question = `select obj_description(to_regnamespace($1), 'pg_namespace') as memory`
  return (await session.query(question, [quoteIdentifier(schema)])).rows[0]?.memory
}

async function readApplied(session: Queryable, schema: string): Promise<AppliedMigrations> {
  const table = `${quoteIdentifier(schema)}.migration`
  const { rows: exists } = await session.query('select to_regclass($1) is not null as found', [table])
  if (exists[0]?.found !== true) return NOTHING_APPLIED
  const { rows } = await session.query(
    `select max(m.revision) as revision, jsonb_object_agg(m.revision, m.checksum) as checksums from ${table} as m`,
  )
  return toApplied(rows[0])
}

async function recordMigration(session: Queryable, schema: string, migration: Migration): Promise<void> {
  await session.query(`select ${quoteIdentifier(schema)}.record_migration($1, $2, $3)`, [
    migration.revision,
    migration.name,
    migration.checksum,
  ])
}
