// PGlite in this process: the whole of PostgreSQL with one connection, nothing to install.

import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { HoldfastError } from '../domain/errors.js'
import { type Database, overPool } from './connection.js'

export const EMBEDDED_FOLDER = '.holdfast'

/** Opens or makes the database in `folder`; `memory://` keeps nothing. Two processes must not share a folder. */
export async function openEmbedded(folder: string = EMBEDDED_FOLDER): Promise<Database> {
  const { PGlite } = await loadPGlite()
  if (folder.startsWith('memory://')) {
    const pglite = await PGlite.create(folder)
    return overPGlite(pglite, () => pglite.close())
  }
  const release = await lockFolder(resolve(folder))
  try {
    const pglite = await PGlite.create(join(resolve(folder), 'data'))
    return await overPGlite(pglite, async () => {
      await pglite.close()
      await release()
    })
  } catch (error) {
    await release()
    throw error
  }
}

/** The caller's own PGlite: used, never closed. */
export function usePGlite(pglite: PGlite): Promise<Database> {
  return overPGlite(pglite, async () => {})
}

async function overPGlite(pglite: PGlite, close: () => Promise<void>): Promise<Database> {
  const { createPgConfig } = await import('@electric-sql/pglite/node-postgres')
  const pool = new pg.Pool({ ...createPgConfig(pglite), max: 1 } as pg.PoolConfig)
  const shared = overPool(pool, {
    engine: 'embedded',
    address: undefined,
    async listen(channel, heard) {
      const unlisten = await pglite.listen(channel, heard)
      return { check: async () => true, close: () => unlisten() }
    },
    async close() {
      await pool.end()
      await close()
    },
  })
  // One session for all who have this PGlite: each takes the turn that PGlite's own queries and transactions take, and
  // leaves no named statement behind, which another could not prepare again.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => pglite._runExclusiveTransaction(work)
  return {
    ...shared,
    query: (text, values) => inTurn(() => shared.query(text, values)),
    prepared: (text, values) => inTurn(() => shared.query(text, values)),
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

// In a container a process often has the id that the one before it had: its file alone does not tell whose it is.
const FOLDERS_HELD_HERE = new Set<string>()

/** Takes the folder for this process by a file with its id; a file that a dead process left is taken over. */
async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'pid')
  for (let tries = 1; ; tries += 1) {
    try {
      const handle = await open(file, 'wx')
      await handle.writeFile(String(process.pid))
      await handle.close()
      FOLDERS_HELD_HERE.add(folder)
      return async () => {
        FOLDERS_HELD_HERE.delete(folder)
        await rm(file, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const owner = Number(await readFile(file, 'utf8').catch(() => ''))
      const isOwn = owner === process.pid
      if (tries > 3 || (isOwn ? FOLDERS_HELD_HERE.has(folder) : isAlive(owner))) {
        throw new HoldfastError(
          'EMBEDDED_IN_USE',
          `process ${owner} has ${folder} open: stop it, or give this one a folder or a DATABASE_URL of its own`,
          { details: { folder, pid: owner } },
        )
      }
      await rm(file, { force: true })
    }
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
