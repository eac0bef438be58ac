// record_heartbeat: a sign of life, which costs no wait for the disk.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const HEARTBEAT = `select holdfast.record_heartbeat('w')`

test('a heartbeat of a registered worker is kept', async () => {
  const client = await db.connect()
  await ask(client, `select holdfast.register_worker_v1('w', 'pod', 1, '1', '{default}', '{task}', 1)`)
  await setClock(client, '2090-01-01T00:00:00Z')

  expect(await askValue(client, HEARTBEAT)).toBe(true)
  expect(await askValue(db.admin, 'select heartbeat_at from holdfast.worker')).toEqual(new Date('2090-01-01T00:00:00Z'))
})

test('a worker whose row is gone gets false, and registers again', async () => {
  expect(await askValue(db.pool, HEARTBEAT)).toBe(false)
})

test('only the transaction of the heartbeat commits without waiting for the disk', async () => {
  const client = await db.connect()
  await client.query('set synchronous_commit = on')

  await client.query('begin')
  await ask(client, HEARTBEAT)
  expect(await askValue(client, 'show synchronous_commit')).toBe('off')
  await client.query('commit')

  expect(await askValue(client, 'show synchronous_commit')).toBe('on')
})
