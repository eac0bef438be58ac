// holdfast migrate: brings the database to this program's schema.

import type { Command } from 'commander'
import { HoldfastError } from '../../domain/error/errors.js'
import { DEFAULT_SCHEMA } from '../../domain/value/schema-name.js'
import { schemaStatus } from '../../store/schema/check-schema.js'
import { migrate } from '../../store/schema/migrate.js'
import { withSession } from '../../store/schema/migrate-session.js'
import { type DatabaseFlags, findDatabase, withDatabase } from '../database.js'
import { print } from '../terminal.js'

interface MigrateFlags extends DatabaseFlags {
  readonly plan?: boolean
  readonly check?: boolean
}

export function addMigrate(program: Command): void {
  withDatabase(program.command('migrate'))
    .description('bring the database to the schema that this version needs')
    .option('--plan', 'show what is missing and change nothing')
    .option('--check', 'exit with 4 when something is missing')
    .action(runMigrate)
}

async function runMigrate(flags: MigrateFlags): Promise<void> {
  const { database, schema = DEFAULT_SCHEMA } = await findDatabase(flags)
  await withSession(database, async (session, { folder }) => {
    const status = await schemaStatus(session, { schema, folder })
    if (flags.check && status.missing.length > 0) {
      throw new HoldfastError(
        'SCHEMA_OUTDATED',
        `schema "${schema}" lacks ${status.missing.join(', ')}: run \`holdfast migrate\``,
      )
    }
    if (flags.plan || flags.check) return print(flags, status, planText(schema, status.missing))
    const report = await migrate(session, { schema, folder })
    print(flags, report, `schema "${schema}" is at revision ${report.revision}${appliedText(report.applied)}`)
  })
}

function planText(schema: string, missing: readonly string[]): string {
  return missing.length === 0 ? `schema "${schema}" is up to date` : `schema "${schema}" lacks ${missing.join(', ')}`
}

function appliedText(applied: readonly string[]): string {
  return applied.length === 0 ? ', nothing was missing' : `; applied ${applied.join(', ')}`
}
