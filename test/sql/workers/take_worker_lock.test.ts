// take_worker_lock: the lock that shows that a worker lives ends with its session.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const HOLD = `select holdfast.take_worker_lock_v1('worker-1')`

test('the first session of a worker has its lock, a second one has not, and the row shows it', async () => {
  await ask(db.pool, `select holdfast.register_worker_v1('worker-1', 'pod', 1, '0', '{default}', '{task}', 1)`)
  const first = await db.connect()
  const second = await db.connect()

  expect(await askValue(first, HOLD)).toBe(true)
  expect(await askValue(db.admin, 'select has_lock from holdfast.worker')).toBe(true)
  expect(await askValue(second, HOLD)).toBe(false)
  expect(await askValue(db.admin, 'select has_lock from holdfast.worker')).toBe(false)
})

test('workers do not share a lock', async () => {
  const first = await db.connect()
  const second = await db.connect()

  expect(await askValue(first, HOLD)).toBe(true)
  expect(await askValue(second, `select holdfast.take_worker_lock_v1('worker-2')`)).toBe(true)
})
