// Is the schema still as a fresh installation makes it? Compares every table, column, constraint, index and function.

import { freshBodies, freshElements, liveBodies, liveElements } from '../../store/schema/schema-description.js'
import { inSchema } from '../../store/schema/sql-files.js'
import type { Check } from '../check.js'
import { driftOf } from '../drift.js'
import { type CheckResult, fail, ok, warn } from '../finding.js'

const AGAIN = 'run `npx holdfast migrate`, which applies every function again'

export const schemaDrift: Check = {
  name: 'schema drift',
  needs: 'schema',
  async examine({ database, store: { schema } }) {
    const drifts = driftOf(await freshElements(), await liveElements(database, schema))
    const results = drifts.map(({ text, sql, isHarmful }): CheckResult => {
      if (!isHarmful) return warn(text, 'keep it if it is yours: nothing here relies on it')
      const own = sql.map((statement) => inSchema(statement, schema))
      const fix =
        own.length > 0 ? 'repair it as the owner of the schema' : `${AGAIN}; a missing table comes back from a backup`
      return fail(text, fix, own)
    })
    const bodies = await liveBodies(database, schema)
    const isThere = (name: string, body: string) => bodies.some((one) => one.name === name && one.body === body)
    const known = new Set(bodies.map(({ name }) => name))
    const changed = (await freshBodies(schema))
      .filter(({ name, body }) => known.has(name) && !isThere(name, body))
      .map(({ name, file }) => fail(`function ${name} has another body than this program’s`, AGAIN, [file]))
    const all = [...results, ...changed]
    return all.length > 0 ? all : [ok('tables, indexes, constraints and functions are as this program makes them')]
  },
}
