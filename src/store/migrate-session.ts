// One connection for a migration, opened for it alone.

import { translated } from './call.js'
import type { Queryable } from './connection.js'
import { openDatabase } from './open.js'

export async function withSession<T>(database: string, work: (session: Queryable) => Promise<T>): Promise<T> {
  const opened = await openDatabase({ database, maxConnections: 1 })
  try {
    return await opened.session(work)
  } catch (error) {
    throw translated(error)
  } finally {
    await opened.close()
  }
}
