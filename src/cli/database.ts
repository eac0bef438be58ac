// Which database a command means: the flag, then the environment, then the application's own file.

import type { Command } from 'commander'
import { type OpenClient, openClient } from '../client/open.js'
import { HoldfastError } from '../domain/error/errors.js'
import type { StoreOptions } from '../holdfast.js'
import { type App, findAppFile, loadApp } from './load-app.js'

export interface DatabaseFlags {
  readonly database?: string
  readonly schema?: string
  readonly config?: string
  readonly json?: boolean
}

/** The options that every command with a database has. */
export function withDatabase(command: Command): Command {
  return command
    .option('--database <url>', 'default: HOLDFAST_DATABASE_URL, then DATABASE_URL, then that of your config')
    .option('--schema <name>', 'another schema name (default: that of your config, then "holdfast")')
    .option('--config <file>', 'the file that exports your Holdfast (default: holdfast.config.ts, .js, .mjs)')
    .option('--json', 'print JSON')
}

/** The application's file is loaded only if neither the flags nor the environment name a database. */
export async function findDatabase(flags: DatabaseFlags): Promise<Pick<StoreOptions, 'database' | 'schema'>> {
  const url = namedUrl(flags)
  if (url) return { database: url, schema: flags.schema }
  if (findAppFile(flags.config) === undefined) {
    throw new HoldfastError(
      'INVALID_OPTION',
      'which database? give --database postgres://…, set HOLDFAST_DATABASE_URL or DATABASE_URL, or run in a folder with a holdfast.config.ts',
    )
  }
  const app = await loadApp(flags.config)
  return { database: app.database, schema: flags.schema ?? app.schema }
}

/** Opens the database for one command and closes it again. */
export async function withClient<T>(flags: DatabaseFlags, work: (open: OpenClient) => Promise<T>): Promise<T> {
  const open = openClient({ ...(await findDatabase(flags)), maxConnections: 2 })
  try {
    return await work(open)
  } finally {
    await open.close()
  }
}

/** The application, on the database that the flags or the environment name. A pool made by the application's file is kept. */
export function onDatabase(app: App, flags: DatabaseFlags): App {
  const isOwnPool = typeof app.database === 'object' && flags.database === undefined
  const url = isOwnPool ? undefined : namedUrl(flags)
  if (url === undefined && flags.schema === undefined) return app
  return app.with({ ...(url !== undefined && { database: url }), ...(flags.schema && { schema: flags.schema }) })
}

function namedUrl(flags: DatabaseFlags): string | undefined {
  return flags.database ?? (process.env.HOLDFAST_DATABASE_URL || process.env.DATABASE_URL || undefined)
}
