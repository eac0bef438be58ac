// Examines a database and those who use it. Changes nothing.

import { isHoldfastError } from '../domain/error/errors.js'
import type { Database } from '../store/connection/connection.js'
import { translated } from '../store/connection/translate-error.js'
import { checkSchema } from '../store/schema/check-schema.js'
import { openDatabase, Store, type StoreOptions } from '../store/store.js'
import type { Check } from './check.js'
import { bloat } from './checks/bloat.js'
import { clocks } from './checks/clocks.js'
import { connections } from './checks/connections.js'
import { invalidIndexes } from './checks/invalid-indexes.js'
import { longTransactions } from './checks/long-transactions.js'
import { placement } from './checks/placement.js'
import { pooler } from './checks/pooler.js'
import { rights } from './checks/rights.js'
import { schemaDrift } from './checks/schema-drift.js'
import { serverVersion } from './checks/server-version.js'
import { handlers, queues, workers } from './checks/unserved-work.js'
import { workerVersions } from './checks/worker-versions.js'
import { type CheckResult, type Finding, fail, ok, warn } from './finding.js'
import { DEFAULT_LIMITS, type Limits } from './thresholds.js'

const CHECKS: readonly Check[] = [
  serverVersion,
  pooler,
  connections,
  longTransactions,
  rights,
  schemaDrift,
  invalidIndexes,
  bloat,
  workers,
  handlers,
  queues,
  workerVersions,
  clocks,
  placement,
]

/** One finding at least for each check. Throws only when the database cannot be reached. */
export async function examine(
  options: Pick<StoreOptions, 'database' | 'schema' | 'pooler'>,
  limits: Limits = DEFAULT_LIMITS,
): Promise<Finding[]> {
  const database = await openDatabase({ ...options, maxConnections: 2 })
  const store = new Store({ database, schema: options.schema, migrate: false })
  try {
    await database.query('select 1')
    const schema = await schemaFinding(database, store.schema)
    const findings: Finding[] = [schema]
    for (const check of CHECKS) {
      if (check.needs === 'server' && database.engine !== 'server') continue
      if (check.needs === 'schema' && schema.verdict !== 'ok') continue
      const results = await check.examine({ database, store, limits }).catch(unanswered)
      findings.push(...results.map((one) => ({ check: check.name, ...one })))
    }
    return findings
  } catch (error) {
    throw translated(error)
  } finally {
    await database.close()
  }
}

async function schemaFinding(database: Database, schema: string): Promise<Finding> {
  try {
    await checkSchema(database, { schema, folder: database.folder })
    return { check: 'schema', ...ok(`schema "${schema}" fits this program`) }
  } catch (error) {
    const known = translated(error)
    const isBehind = isHoldfastError(known, 'SCHEMA_MISSING') || isHoldfastError(known, 'SCHEMA_OUTDATED')
    const fix = isBehind ? 'what it would do: `npx holdfast migrate --plan`' : 'no program of this version can use it'
    return { check: 'schema', ...fail((known as Error).message, fix) }
  }
}

const NOT_ALLOWED = '42501'

function unanswered(error: unknown): CheckResult[] {
  const known = translated(error)
  if (isHoldfastError(known, 'CONNECTION_FAILED')) throw known
  const { code, message } = known as { code?: unknown; message?: string }
  const text = `could not be examined: ${message ?? String(known)}`
  return code === NOT_ALLOWED
    ? [warn(text, 'ask again as a role with the role operator or viewer')]
    : [fail(text, 'ask again; if it stays, this program and the schema do not understand each other')]
}
