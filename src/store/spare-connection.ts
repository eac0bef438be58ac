// A pool hands out the connection that came back last. Its session has the plans of what is asked most, so what nobody waits
// for takes another one, and gives it back behind that.

import type pg from 'pg'

/** Another connection than the one used last, where the pool has one or may open it. */
export async function takeSpare(pool: pg.Pool): Promise<pg.PoolClient> {
  if (!hasIdle(pool)) return pool.connect()
  const last = await pool.connect()
  const isOtherIdle = hasIdle(pool)
  const spare = pool.connect()
  // One that must be opened takes its time, and in a full pool the last one is the answer. An idle one comes at once, but a
  // connection that is given back before that would come in its place.
  if (!isOtherIdle) last.release()
  try {
    return await spare
  } finally {
    if (isOtherIdle) last.release()
  }
}

/** The connection used last stays the next in turn. */
export async function returnSpare(pool: pg.Pool, spare: pg.PoolClient): Promise<void> {
  const last = hasIdle(pool) ? await pool.connect().catch(() => undefined) : undefined
  spare.release()
  last?.release()
}

/** Whether the next to ask gets a connection without waiting or opening one. */
function hasIdle(pool: pg.Pool): boolean {
  return pool.idleCount > pool.waitingCount
}
