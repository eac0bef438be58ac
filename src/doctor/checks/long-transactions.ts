// A transaction with an old snapshot prevents vacuum from removing the dead rows of finished jobs, and every claim reads over
// them. Transactions of other databases do not matter.

import type { Check } from '../check.js'
import { type CheckResult, ok, warn } from '../finding.js'

const HOLDERS = `
  select h.what, h.pid, h.ms, h.doing
    from (
      select 'session' as what, a.pid,
             1000 * extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.backend_start)) as ms,
             format('%s, %s: %s', a.usename, a.state, left(regexp_replace(a.query, '\\s+', ' ', 'g'), 120)) as doing
        from pg_catalog.pg_stat_activity as a
       where a.pid <> pg_backend_pid()
         and a.backend_type = 'client backend'
         and a.datname = current_database()
         and (a.backend_xmin is not null or a.backend_xid is not null or a.state like 'idle in transaction%')
      union all
      select 'prepared transaction', null, 1000 * extract(epoch from clock_timestamp() - p.prepared), p.gid
        from pg_catalog.pg_prepared_xacts as p
       where p.database = current_database()
    ) as h
   where h.ms >= $1
   order by h.ms desc
   limit 5`

export const longTransactions: Check = {
  name: 'long transactions',
  needs: 'server',
  async examine({ database, limits }) {
    const { rows } = await database.query(HOLDERS, [limits.transactionMs])
    if (rows.length === 0) return [ok(`no transaction is older than ${seconds(limits.transactionMs)}`)]
    return rows.map(({ what, pid, ms, doing }): CheckResult => {
      const text = `${what}${pid === null ? '' : ` ${pid}`} has been in a transaction for ${seconds(Number(ms))} (${doing})`
      const end = pid === null ? `rollback prepared '${doing}';` : `select pg_terminate_backend(${pid});`
      return warn(
        text,
        'end it, and see why it stays open: dead rows of finished jobs cannot be removed while it does',
        [end],
      )
    })
  },
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`
}
