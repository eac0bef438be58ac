// holdfast migrate: brings the database to this program's schema.

import type { Command } from 'commander'
import { HoldfastError } from '../../domain/errors.js'
import { migrate, schemaStatus } from '../../store/migrate.js'
import { withSession } from '../../store/migrate-session.js'
import { type DatabaseFlags, databaseOf } from '../database.js'

interface MigrateFlags extends DatabaseFlags {
  readonly plan?: boolean
  readonly check?: boolean
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the schema that this version needs')
    .option('--database <url>', 'default: HOLDFAST_DATABASE_URL, then DATABASE_URL')
    .option('--schema <name>', 'another schema name', 'holdfast')
    .option('--plan', 'show what would be applied and change nothing')
    .option('--check', 'exit with 4 when something would be applied')
    .option('--json', 'print JSON')
    .action(runMigrate)
}

async function runMigrate(flags: MigrateFlags): Promise<void> {
  const schema = flags.schema ?? 'holdfast'
  await withSession(databaseOf(flags, process.env), async (session) => {
    const status = await schemaStatus(session, { schema })
    if (flags.check && status.missing.length > 0) {
      throw new HoldfastError(
        'SCHEMA_OUTDATED',
        `schema "${schema}" lacks ${status.missing.join(', ')}: run \`holdfast migrate\``,
      )
    }
    if (flags.plan || flags.check) return print(flags, status, planText(schema, status.missing))
    const report = await migrate(session, { schema })
    print(flags, report, `schema "${schema}" is at revision ${report.revision}${appliedText(report.applied)}`)
  })
}

function planText(schema: string, missing: readonly string[]): string {
  return missing.length === 0 ? `schema "${schema}" is up to date` : `schema "${schema}" lacks ${missing.join(', ')}`
}

function appliedText(applied: readonly string[]): string {
  return applied.length === 0 ? ', nothing was missing' : `; applied ${applied.join(', ')}`
}

function print(flags: MigrateFlags, value: object, text: string): void {
  console.log(flags.json ? JSON.stringify(value) : text)
}
