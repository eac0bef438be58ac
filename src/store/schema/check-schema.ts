// Checks whether this program can use the schema of a database.

import { HoldfastError } from '../../domain/error/errors.js'
import { checkSchemaName, DEFAULT_SCHEMA, quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Queryable, Row } from '../connection/connection.js'
import { inSchema, type Migration, readMigrations } from './sql-files.js'

export interface SchemaOptions {
  readonly schema?: string | undefined
  /** Of an embedded database: what to delete when its schema cannot be used. */
  readonly folder?: string | undefined
}

export interface SchemaStatus {
  readonly schema: string
  /** null when the database has no Holdfast schema. */
  readonly revision: number | null
  readonly missing: readonly string[]
}

/** What `migrate` would apply. Refuses what `migrate` would refuse. */
export async function schemaStatus(session: Queryable, options: SchemaOptions = {}): Promise<SchemaStatus> {
  const schema = checkSchemaName(options.schema ?? DEFAULT_SCHEMA)
  const applied = await askApplied(session, schema)
  const missing = missingMigrations(await readMigrations(schema), applied ?? NOTHING_APPLIED, options)
  return { schema, revision: applied?.revision ?? null, missing: missing.map(({ name }) => name) }
}

/** Refuses a database that this program cannot use, naming what repairs it. */
export async function checkSchema(session: Queryable, options: SchemaOptions = {}): Promise<void> {
  const { schema = DEFAULT_SCHEMA } = options
  const migrations = await readMigrations(schema)
  const needed = latestRevision(migrations)
  const applied = await askApplied(session, schema)
  if (applied === undefined) {
    throw new HoldfastError(
      'SCHEMA_MISSING',
      `the database has no schema "${schema}" that this role can use: run \`${migrateCommand(schema)}\``,
      { details: { schema, needed } },
    )
  }
  if (missingMigrations(migrations, applied, options).length > 0) {
    throw new HoldfastError(
      'SCHEMA_OUTDATED',
      `schema "${schema}" has revision ${applied.revision}, this program needs ${needed}: run \`${migrateCommand(schema)}\``,
      { details: { schema, found: applied.revision, needed } },
    )
  }
}

/** The migrations that a database has. */
export interface AppliedMigrations {
  /** The highest one. */
  readonly revision: number
  /** Of their texts, by revision. */
  readonly checksums: Readonly<Record<string, string>>
}

export const NOTHING_APPLIED: AppliedMigrations = { revision: 0, checksums: {} }

export function toApplied(row: Row | undefined): AppliedMigrations {
  return { revision: Number(row?.revision ?? 0), checksums: (row?.checksums ?? {}) as Record<string, string> }
}

/** Refuses a schema that other texts or a newer program have made. */
export function missingMigrations(
  own: readonly Migration[],
  applied: AppliedMigrations,
  { schema = DEFAULT_SCHEMA, folder }: SchemaOptions,
): Migration[] {
  const changed = own.find(
    (one) => one.revision <= applied.revision && applied.checksums[one.revision] !== one.checksum,
  )
  if (changed) {
    throw new HoldfastError(
      'MIGRATION_CHANGED',
      `schema "${schema}" was made from another text of ${changed.name}, which changes in place before the first release. ${wayOut(schema, folder)}`,
      {
        details: {
          schema,
          migration: changed.name,
          found: applied.checksums[changed.revision],
          needed: changed.checksum,
        },
      },
    )
  }
  const known = latestRevision(own)
  if (applied.revision > known) {
    throw new HoldfastError(
      'SCHEMA_TOO_NEW',
      `schema "${schema}" has revision ${applied.revision}, this program knows ${known}: update the holdfast package`,
      { details: { schema, found: applied.revision, needed: known } },
    )
  }
  return own.filter(({ revision }) => revision > applied.revision)
}

export function latestRevision(migrations: readonly Migration[]): number {
  return Math.max(...migrations.map(({ revision }) => revision))
}

function wayOut(schema: string, folder: string | undefined): string {
  if (folder !== undefined) return `Delete the folder ${folder}: the next start makes it again, without its jobs`
  const drop = inSchema('drop schema holdfast cascade', schema)
  return `Drop it with its jobs (\`${drop}\`) or use another schema, then run \`${migrateCommand(schema)}\``
}

function migrateCommand(schema: string): string {
  return `npx holdfast migrate${schema === DEFAULT_SCHEMA ? '' : ` --schema ${schema}`}`
}

// The SQLSTATEs of a missing schema, a missing function, and a missing right to use them.
const NO_SCHEMA = new Set(['3F000', '42883', '42501'])

async function askApplied(session: Queryable, schema: string): Promise<AppliedMigrations | undefined> {
  try {
    const { rows } = await session.query(`select * from ${quoteIdentifier(schema)}.schema_revision_v1()`)
    return toApplied(rows[0])
  } catch (error) {
    if (NO_SCHEMA.has(String((error as { code?: unknown }).code))) return undefined
    throw error
  }
}
