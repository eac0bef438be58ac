// Dead rows in the tables of living jobs, and whether anybody removes them.

import { quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Check } from '../check.js'
import { fail, ok, type Told, warn } from '../finding.js'

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
    // One connection in one process: nobody else could vacuum it, and it does so by itself when it is opened.
    const isServer = database.engine === 'server'
    const told = rows.flatMap(({ name, dead, live, bytes, unattended }): Told[] => {
      const table = `${schema}.${name}`
      if (unattended && isServer) {
        const fact = `autovacuum is off for ${table}: dead rows of finished jobs stay for ever`
        return [fail(fact, 'turn it on', [`alter table ${table} reset (autovacuum_enabled);`])]
      }
      if (Number(dead) < limits.deadRows || Number(dead) < 2 * Number(live)) return []
      const size = `${Math.ceil(Number(bytes) / 2 ** 20)} MB`
      const fact = `${table} has ${dead} dead rows for ${live} living ones (${size}): claims walk over them`
      return [warn(fact, 'see the long transactions; then remove them', [`vacuum (analyze) ${table};`])]
    })
    return told.length > 0 ? told : [ok('the tables of living jobs are tidy')]
  },
}
