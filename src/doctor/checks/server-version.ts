// Is this version of PostgreSQL supported?

import type { Check } from '../check.js'
import { fail, ok, warn } from '../finding.js'

const OLDEST = 15
const NEWEST = 18

export const serverVersion: Check = {
  name: 'server version',
  async examine({ database }) {
    const { rows } = await database.query(
      `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number`,
    )
    const { version, number } = rows[0] as { version: string; number: number }
    const major = Math.floor(number / 10_000)
    if (major < OLDEST) {
      return [fail(`PostgreSQL ${version} is too old`, `use PostgreSQL ${OLDEST} to ${NEWEST}`)]
    }
    if (major > NEWEST) {
      return [warn(`PostgreSQL ${version} is newer than any that was tried`, `known to do: ${OLDEST} to ${NEWEST}`)]
    }
    return [ok(`PostgreSQL ${version}`)]
  },
}
