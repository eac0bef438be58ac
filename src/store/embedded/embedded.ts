// PGlite in this process: the whole of PostgreSQL with one connection, nothing to install.

import { join, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { HoldfastError } from '../../domain/error/errors.js'
import { OWN_SESSION } from '../connection/capabilities.js'
import { type Database, overPool } from '../connection/connection.js'
import { lockFolder } from './folder-lock.js'

export const EMBEDDED_FOLDER = '.holdfast'

/** Opens or creates the database in `folder`; `memory://` stores nothing. Two processes must not share a folder. */
export async function openEmbedded(folder: string = EMBEDDED_FOLDER): Promise<Database> {
  const { PGlite } = await loadPGlite()
  if (folder.startsWith('memory://')) {
    const pglite = await PGlite.create(folder)
    return overPGlite(pglite, true, () => pglite.close())
  }
  const place = resolve(folder)
  const release = await lockFolder(place)
  try {
    const pglite = await PGlite.create(join(place, 'data'))
    const database = await overPGlite(pglite, true, async () => {
      await pglite.close()
      await release()
    })
    return { ...database, folder: place }
  } catch (error) {
    await release()
    throw error
  }
}

/** The caller's own PGlite: used, never closed. */
export function usePGlite(pglite: PGlite): Promise<Database> {
  return overPGlite(pglite, false, async () => {})
}

async function overPGlite(pglite: PGlite, ownsSessions: boolean, close: () => Promise<void>): Promise<Database> {
  const { createPgConfig } = await import('@electric-sql/pglite/node-postgres')
  const pool = new pg.Pool({ ...createPgConfig(pglite), max: 1 } as pg.PoolConfig)
  const shared = overPool(pool, {
    engine: 'embedded',
    address: undefined,
    capabilities: OWN_SESSION,
    ownsSessions,
    async listen(channel, heard) {
      const unlisten = await pglite.listen(channel, heard)
      return { check: async () => true, close: () => unlisten() }
    },
    async close() {
      await pool.end()
      await close()
    },
  })
  // All users of this PGlite share one session: each call waits for its turn like PGlite's own queries and transactions, and
  // leaves no named statement behind, which another user could not prepare again.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => pglite._runExclusiveTransaction(work)
  return {
    ...shared,
    query: (text, values) => inTurn(() => shared.query(text, values)),
    async prepared(text, values, { onAnswer }) {
      const answer = await inTurn(() => shared.query(text, values))
      onAnswer?.(answer.rows)
      return answer
    },
    session: (work) => inTurn(() => shared.session(work)),
    transaction: (work) => inTurn(() => shared.transaction(work)),
  }
}

async function loadPGlite(): Promise<typeof import('@electric-sql/pglite')> {
  try {
    return await import('@electric-sql/pglite')
  } catch (error) {
    throw new HoldfastError('EMBEDDED_MISSING', undefined, { cause: error })
  }
}
