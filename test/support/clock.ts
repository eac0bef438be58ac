// Sets the database's clock: time in tests is a value, never something to wait for.
import type { TestDatabase } from './database.js'

interface Session {
  query(text: string, values?: unknown[]): Promise<unknown>
}

/** What `holdfast.now()` gives in this session from now on; null gives the wall clock back. */
export async function setClock(client: Session, iso: string | null): Promise<void> {
  await client.query(`select set_config('holdfast.fake_now', $1, false)`, [iso ?? ''])
}

/** The same for every connection opened to the database afterwards; those that are open keep their clock. */
export async function holdClock(database: TestDatabase, iso: string | null): Promise<void> {
  if (database.engine !== 'postgres') throw new Error('PGlite has one session: use setClock')
  const change = iso === null ? 'reset holdfast.fake_now' : `set holdfast.fake_now = '${new Date(iso).toISOString()}'`
  await database.admin.query(`alter database ${database.name} ${change}`)
}
