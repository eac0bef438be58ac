// A worker's lock goes from one of its sessions to another, and meanwhile its row says that nobody has it.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const HOLD = `select holdfast.take_worker_lock_v1('worker-1')`
const RELEASE = `select holdfast.release_worker_lock_v1('worker-1')`
const hasLock = () => askValue<boolean>(db.admin, 'select has_lock from holdfast.worker')

async function registered() {
  await ask(db.pool, `select holdfast.register_worker_v1('worker-1', 'pod', 1, '0', '{default}', '{task}', 1)`)
  return [await db.connect(), await db.connect()] as const
}

test('a lock that its session releases is free for the next session of the worker', async () => {
  const [first, second] = await registered()
  expect(await askValue(first, HOLD)).toBe(true)

  expect(await askValue(first, RELEASE)).toBe(true)
  expect(await hasLock()).toBe(false)
  expect(await askValue(second, HOLD)).toBe(true)
  expect(await hasLock()).toBe(true)
})

test('a session that does not have the lock takes it from nobody', async () => {
  const [first, second] = await registered()
  expect(await askValue(first, HOLD)).toBe(true)

  expect(await askValue(second, RELEASE)).toBe(false)
  expect(await hasLock()).toBe(true)
  expect(await askValue(db.admin, `select pg_try_advisory_xact_lock(holdfast.worker_lock_id('worker-1'))`)).toBe(false)
})
