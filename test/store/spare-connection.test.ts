// What nobody waits for takes another connection than the one used last, and disturbs the order in no other way.
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { usePool } from '../../src/store/server.js'
import { returnSpare, takeSpare } from '../../src/store/spare-connection.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
let pool: pg.Pool
beforeEach(() => {
  pool = new pg.Pool({ connectionString: db.whole.adminUrl, max: 3 })
})
afterEach(() => pool.end())

async function pidOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  return rows[0].pid
}

async function lastUsed(): Promise<number> {
  const client = await pool.connect()
  const pid = await pidOf(client)
  client.release()
  return pid
}

test('a spare is opened where there is none, kept beside the last one, and never handed out before it', async () => {
  const last = await lastUsed()
  const spare = await takeSpare(pool)
  const spareId = await pidOf(spare)
  expect(spareId).not.toBe(last)
  expect(await lastUsed()).toBe(last)

  await returnSpare(pool, spare)
  expect(await lastUsed()).toBe(last)
  const again = await takeSpare(pool)
  expect(await pidOf(again)).toBe(spareId)
  expect(await lastUsed()).toBe(last)

  await returnSpare(pool, again)
  expect([pool.totalCount, pool.idleCount]).toEqual([2, 2])
})

test('the first connection of a pool is its spare', async () => {
  const spare = await takeSpare(pool)
  const pid = await pidOf(spare)
  await returnSpare(pool, spare)

  expect(await lastUsed()).toBe(pid)
  expect(pool.totalCount).toBe(1)
})

test('a full pool gives what it has', async () => {
  const held = [await pool.connect(), await pool.connect()]
  const last = await lastUsed()
  const spare = await takeSpare(pool)
  expect(await pidOf(spare)).toBe(last)

  await returnSpare(pool, spare)
  for (const client of held) client.release()
  expect([pool.totalCount, pool.idleCount]).toEqual([3, 3])
})

test('those who wait for a connection get one before and after a spare is taken from the same pool', async () => {
  const held = [await pool.connect(), await pool.connect(), await pool.connect()]
  const waiting = pool.connect()
  const sparing = takeSpare(pool)
  held[0]?.release()
  const first = await waiting
  held[1]?.release()
  const spare = await sparing
  const next = pool.connect()
  await returnSpare(pool, spare)

  for (const client of [await next, first, held[2]]) client?.release()
  expect([pool.idleCount, pool.waitingCount]).toEqual([3, 0])
})

test('what nobody waits for goes aside where callers wait, and opens no second connection where none does', async () => {
  const database = await usePool(pool, { pooler: false })
  const pid = async (waiter?: 'caller' | 'nobody') => {
    const { rows } = await database.prepared('select pg_backend_pid() as pid', [], { answerMs: 10_000, waiter })
    return rows[0]?.pid
  }
  const first = await pid('nobody')
  expect(await pid()).toBe(first)
  expect(await pid('nobody')).toBe(first)
  expect(pool.totalCount).toBe(1)

  expect(await pid('caller')).toBe(first)
  expect(await pid('nobody')).not.toBe(first)
  expect(await pid('caller')).toBe(first)
  expect(pool.totalCount).toBe(2)
})
