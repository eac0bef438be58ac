// Brings a database to this program's schema, and tells whether a program and a database fit each other.

import { createHash } from 'node:crypto'
import { HoldfastError } from '../../domain/error/errors.js'
import { checkSchemaName, DEFAULT_SCHEMA, quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Queryable } from '../connection/connection.js'
import { type Migration, readMigrations, readRepeatables } from './sql-files.js'

export interface MigrationReport {
  readonly schema: string
  /** Names of the migrations that this call applied. */
  readonly applied: readonly string[]
  readonly revision: number
}

export interface MigrateOptions {
  readonly schema?: string | undefined
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
    const missing = missingMigrations(migrations, applied)
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

export interface SchemaStatus {
  readonly schema: string
  /** null when the database has no Holdfast schema. */
  readonly revision: number | null
  readonly missing: readonly string[]
}

export async function schemaStatus(
  session: Queryable,
  options: { schema?: string | undefined } = {},
): Promise<SchemaStatus> {
  const schema = checkSchemaName(options.schema ?? DEFAULT_SCHEMA)
  const migrations = await readMigrations(schema)
  const found = await readRevision(session, schema)
  return {
    schema,
    revision: found?.revision ?? null,
    missing: migrations.filter(({ revision }) => revision > (found?.revision ?? 0)).map(({ name }) => name),
  }
}

/** Refuses a database that this program cannot use, naming the command that repairs it. */
export async function checkSchema(session: Queryable, schema: string): Promise<void> {
  const own = latestRevision(await readMigrations(schema))
  const found = await readRevision(session, schema)
  const option = schema === DEFAULT_SCHEMA ? '' : ` --schema ${schema}`
  if (found === undefined) {
    throw new HoldfastError(
      'SCHEMA_MISSING',
      `the database has no schema "${schema}" that this role can use: run \`npx holdfast migrate${option}\``,
      { details: { schema, needed: own } },
    )
  }
  const details = { schema, found: found.revision, needed: own }
  if (found.revision < own) {
    throw new HoldfastError(
      'SCHEMA_OUTDATED',
      `schema "${schema}" has revision ${found.revision}, this program needs ${own}: run \`npx holdfast migrate${option}\``,
      { details },
    )
  }
  if (found.oldestProgram > own) {
    throw new HoldfastError(
      'SCHEMA_TOO_NEW',
      `schema "${schema}" has revision ${found.revision} and refuses programs below ${found.oldestProgram}; this one is ${own}: update the holdfast package`,
      { details },
    )
  }
}

function missingMigrations(own: Migration[], applied: Map<number, string>): Migration[] {
  const newest = Math.max(0, ...applied.keys())
  if (newest > latestRevision(own)) {
    throw new HoldfastError(
      'SCHEMA_TOO_NEW',
      `the database has revision ${newest}, this program knows ${latestRevision(own)}: migrate with the newer holdfast package`,
      { details: { found: newest, needed: latestRevision(own) } },
    )
  }
  for (const migration of own) {
    const checksum = applied.get(migration.revision)
    if (checksum !== undefined && checksum !== migration.checksum) {
      throw new HoldfastError(
        'MIGRATION_CHANGED',
        `migration ${migration.name} was applied with another text; applied migrations are never edited`,
        { details: { name: migration.name, applied: checksum, found: migration.checksum } },
      )
    }
  }
  return own.filter((migration) => !applied.has(migration.revision))
}

async function readApplied(session: Queryable, schema: string): Promise<Map<number, string>> {
  const { rows: exists } = await session.query('select to_regclass($1) is not null as found', [
    `${quoteIdentifier(schema)}.migration`,
  ])
  if (exists[0]?.found !== true) return new Map()
  const { rows } = await session.query(`select m.revision, m.checksum from ${quoteIdentifier(schema)}.migration as m`)
  return new Map(rows.map((row) => [Number(row.revision), String(row.checksum)]))
}

async function recordMigration(session: Queryable, schema: string, migration: Migration): Promise<void> {
  await session.query(`select ${quoteIdentifier(schema)}.record_migration($1, $2, $3, $4)`, [
    migration.revision,
    migration.name,
    migration.checksum,
    migration.oldestProgram,
  ])
}

// What a missing schema or function, or no right to use it, looks like to a program that asks for the revision.
const NO_SCHEMA = new Set(['3F000', '42883', '42501'])

async function readRevision(
  session: Queryable,
  schema: string,
): Promise<{ revision: number; oldestProgram: number } | undefined> {
  try {
    const { rows } = await session.query(
      `select r.revision, r.oldest_program from ${quoteIdentifier(schema)}.schema_revision_v1() as r`,
    )
    return { revision: Number(rows[0]?.revision), oldestProgram: Number(rows[0]?.oldest_program) }
  } catch (error) {
    if (NO_SCHEMA.has(String((error as { code?: unknown }).code))) return undefined
    throw error
  }
}

function latestRevision(migrations: Migration[]): number {
  return Math.max(...migrations.map((migration) => migration.revision))
}
