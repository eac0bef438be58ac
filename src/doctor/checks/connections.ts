// How many connections are left, by whichever limit is met first.

import type { Check } from '../check.js'
import { fail, ok, warn } from '../finding.js'

const LEFT = `
  with used as (
    select count(*) as all_of_them,
           count(*) filter (where a.datname = current_database()) as here,
           count(*) filter (where a.usename = current_user) as own
      from pg_catalog.pg_stat_activity as a
     where a.backend_type = 'client backend'
  )
  select l.name, l.most::integer, greatest(0, l.most - l.used)::integer as left_over
    from used as u
   cross join lateral (values
     ('max_connections of the server',
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
      u.all_of_them),
     ('the limit of this database',
      (select d.datconnlimit from pg_catalog.pg_database as d where d.datname = current_database()), u.here),
     ('the limit of this role',
      (select r.rolconnlimit from pg_catalog.pg_roles as r where r.rolname = current_user), u.own)
   ) as l(name, most, used)
   where l.most >= 0
   order by left_over
   limit 1`

export const connections: Check = {
  name: 'connections',
  needs: 'server',
  async examine({ database, limits }) {
    const { rows } = await database.query(LEFT)
    const { name, most, left_over: left } = rows[0] as { name: string; most: number; left_over: number }
    const text = `${left} of ${most} connections are left (${name})`
    const fix = 'raise that limit, lower maxConnections of your pools, or put a pooler before the server'
    // A worker needs its pool, one connection that listens and one that keeps its leases.
    if (left < Math.min(3, limits.connections)) return [fail(text, fix)]
    return [left < limits.connections ? warn(text, fix) : ok(text)]
  },
}
