// An index that was never finished costs every write and helps no read.

import { quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Check } from '../check.js'
import { fail, ok } from '../finding.js'

const INVALID = `
  select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as on_table, c.relkind
    from pg_catalog.pg_index as i
    join pg_catalog.pg_class as c on c.oid = i.indexrelid
   where c.relnamespace = to_regnamespace($1) and not (i.indisvalid and i.indisready)
   order by 1`

export const invalidIndexes: Check = {
  name: 'invalid indexes',
  needs: 'schema',
  async examine({ database, store }) {
    const { rows } = await database.query(INVALID, [quoteIdentifier(store.schema)])
    if (rows.length === 0) return [ok('every index is valid')]
    return rows.map(({ name, on_table: table, relkind }) =>
      fail(`index ${name} on ${table} is invalid`, 'build it again; if it is not one of Holdfast’s, drop it', [
        relkind === 'I' ? `reindex index ${name};` : `reindex index concurrently ${name};`,
      ]),
    )
  },
}
