// The caller's own writes, with the caller's own library: pg, or PGlite itself.
import type { TestDatabase } from './database.js'

export interface Tx {
  query(text: string, values?: unknown[]): Promise<unknown>
}

export async function inTransaction<T>(database: TestDatabase, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (database.pglite) return database.pglite.transaction((tx) => work(tx as unknown as Tx))
  const client = await database.connect()
  try {
    await client.query('begin')
    const result = await work(client as unknown as Tx)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    await client.end()
  }
}
