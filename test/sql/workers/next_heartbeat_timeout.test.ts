// next_heartbeat_timeout: when some worker may be dead, unless it is heard again.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const NEXT = 'select holdfast.next_heartbeat_timeout_v1()::int'
const REGISTER = `select holdfast.register_worker_v1($1, 'pod', 1, '1', '{default}', '{task}', 1)`

test('without workers there is no timeout', async () => {
  expect(await askValue(db.pool, NEXT)).toBeNull()
})

test('a worker with a lock may be dead two seconds after its heartbeat, one without after ten', async () => {
  const client = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')
  await ask(client, REGISTER, ['locked'])
  await ask(client, `select holdfast.take_worker_lock_v1('locked')`)
  await ask(client, REGISTER, ['lockless'])

  await setClock(client, '2090-01-01T00:00:00.5Z')
  expect(await askValue(client, NEXT)).toBe(1500)
  await setClock(client, '2090-01-01T00:00:03Z')
  expect(await askValue(client, NEXT)).toBe(-1000)

  await ask(client, `select holdfast.deregister_worker_v1('locked')`)
  expect(await askValue(client, NEXT)).toBe(7000)
})

test('a heartbeat puts it off', async () => {
  const client = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')
  await ask(client, REGISTER, ['w'])
  await setClock(client, '2090-01-01T00:00:09Z')
  expect(await askValue(client, NEXT)).toBe(1000)

  await ask(client, `select holdfast.record_heartbeat_v1('w')`)

  expect(await askValue(client, NEXT)).toBe(10_000)
})
