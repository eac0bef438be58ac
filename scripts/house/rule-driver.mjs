// Only the store knows how PostgreSQL is reached.
import { importsOf } from './imports.mjs'

const DRIVERS = /^(pg|@electric-sql\/pglite)(\/|$)/

export const driver = {
  law: 'pg and pglite are imported in src/store only',
  selects: (path) => path.startsWith('src/') && path.endsWith('.ts') && !path.startsWith('src/store/'),
  check(house, path) {
    return importsOf(house, path)
      .filter(({ specifier }) => DRIVERS.test(specifier))
      .map(({ from, specifier }) => `${from}: imports ${specifier}`)
  },
}
