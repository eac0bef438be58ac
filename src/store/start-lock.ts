// A worker's lock until its keeper's thread has booted, in a session of the pool: it tells that the worker lives while nobody
// beats for it yet.

import type pg from 'pg'
import type { Queryable } from './connection.js'
import type { Store } from './open.js'
import { holdWorkerLock, registerWorker, releaseWorkerLock, type WorkerRow } from './workers.js'

export interface StartLock {
  /** Frees the lock for the keeper and gives the connection back. Never rejects; a second call waits for the same. */
  release(): Promise<void>
}

// Others of this process wait for the answers.
const ANSWER_MS = 3000

/**
 * Registers the worker; gives undefined where another session has its lock. `onLost` hears that the session has ended before
 * it was released: from then on nothing tells that the worker lives, until its keeper does.
 */
export async function takeStartLock(
  store: Store,
  row: WorkerRow,
  onLost: (error: Error) => void,
): Promise<StartLock | undefined> {
  const database = await store.open()
  return new Promise((resolve, reject) => {
    let free = () => {}
    const freed = new Promise<void>((done) => {
      free = done
    })
    const over = database.session(async (client, spoil) => {
      try {
        const session = impatient(client)
        await registerWorker(store, row, session)
        if (!(await holdWorkerLock(store, row.id, session))) return resolve(undefined)
        client.on('error', onLost)
        resolve({
          release() {
            free()
            return over
          },
        })
        await freed
        client.off('error', onLost)
        await releaseWorkerLock(store, row.id, session)
      } catch (error) {
        // Its end gives the lock back, whatever became of the statement.
        spoil(error as Error)
        reject(error)
      }
    })
    over.catch(reject)
  })
}

function impatient(client: pg.PoolClient): Queryable {
  return {
    query: (text, values) => client.query({ text, values, query_timeout: ANSWER_MS } as pg.QueryConfig),
  }
}
