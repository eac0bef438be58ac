// Which database a command means: the flag, then the environment.

import { HoldfastError } from '../domain/errors.js'

export interface DatabaseFlags {
  readonly database?: string
  readonly schema?: string
  readonly json?: boolean
}

/** --database, HOLDFAST_DATABASE_URL, DATABASE_URL, in this order. */
export function databaseOf(flags: DatabaseFlags, environment: NodeJS.ProcessEnv): string {
  const found = flags.database ?? environment.HOLDFAST_DATABASE_URL ?? environment.DATABASE_URL
  if (found) return found
  throw new HoldfastError(
    'INVALID_OPTION',
    'which database? give --database postgres://…, or set HOLDFAST_DATABASE_URL or DATABASE_URL',
  )
}
