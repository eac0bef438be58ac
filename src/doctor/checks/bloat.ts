// Dead rows in the tables of unfinished jobs, and whether vacuum removes them.

import { quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Check } from '../check.js'
import { type CheckResult, fail, ok, warn } from '../finding.js'

const LIVING = `
  select c.relname as name,
         coalesce(s.n_dead_tup, 0)::bigint as dead,
         coalesce(s.n_live_tup, 0)::bigint as live,
         pg_relation_size(c.oid) as bytes,
         coalesce(c.reloptions::text ~ 'autovacuum_enabled=(false|off|0)', false)
           or current_setting('autovacuum') = 'off' as unattended
    from pg_catalog.pg_class as c
    left join pg_catalog.pg_stat_all_tables as s on s.relid = c.oid
   where c.relnamespace = to_regnamespace($1) and c.relname = any ('{ready,lease,job_key,worker}')
   order by c.relname`

export const bloat: Check = {
  name: 'bloat',
  needs: 'schema',
  async examine({ database, store, limits }) {
    const schema = quoteIdentifier(store.schema)
    const { rows } = await database.query(LIVING, [schema])
    // An embedded database has one connection; it vacuums itself when it is opened.
    const isServer = database.engine === 'server'
    const results = rows.flatMap(({ name, dead, live, bytes, unattended }): CheckResult[] => {
      const table = `${schema}.${name}`
      if (unattended && isServer) {
        const text = `autovacuum is off for ${table}: dead rows of finished jobs stay for ever`
        return [fail(text, 'turn it on', [`alter table ${table} reset (autovacuum_enabled);`])]
      }
      if (Number(dead) < limits.deadRows || Number(dead) < 2 * Number(live)) return []
      const size = `${Math.ceil(Number(bytes) / 2 ** 20)} MB`
      const text = `${table} has ${dead} dead rows for ${live} living ones (${size}): claims read over them`
      return [warn(text, 'see the long transactions; then remove them', [`vacuum (analyze) ${table};`])]
    })
    return results.length > 0 ? results : [ok('the tables of unfinished jobs have few dead rows')]
  },
}
