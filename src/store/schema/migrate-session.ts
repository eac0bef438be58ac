// One connection for a migration, opened for it alone. A migration keeps nothing in its session, so a pooler is no matter.

import type { Database, Queryable } from '../connection/connection.js'
import { translated } from '../connection/translate-error.js'
import { openDatabase, type StoreOptions } from '../store.js'

export async function withSession<T>(
  database: StoreOptions['database'],
  work: (session: Queryable, opened: Database) => Promise<T>,
): Promise<T> {
  const opened = await openDatabase({ database, maxConnections: 1, pooler: true })
  try {
    return await opened.session((session) => work(session, opened))
  } catch (error) {
    throw translated(error)
  } finally {
    await opened.close()
  }
}
