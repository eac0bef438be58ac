// register_worker: a worker is known with what it serves.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const REGISTER = 'select holdfast.register_worker($1, $2, $3, $4, $5, $6, $7)'
const KNOWN =
  'select id, pod, pid, version, queues, types, concurrency, started_at, heartbeat_at, sleeping_until from holdfast.worker'

test('a registered worker is there, awake, and has just given its heartbeat', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')

  await ask(client, REGISTER, ['pod/1', 'pod', 42, '1.2.3', ['default', 'mail'], ['task'], 10])

  expect(await askRow(db.admin, KNOWN)).toEqual({
    id: 'pod/1',
    pod: 'pod',
    pid: 42,
    version: '1.2.3',
    queues: ['default', 'mail'],
    types: ['task'],
    concurrency: 10,
    started_at: new Date('2030-01-01T00:00:00Z'),
    heartbeat_at: new Date('2030-01-01T00:00:00Z'),
    sleeping_until: null,
  })
})

test('registering again after its row changed keeps since when it runs', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  await ask(client, REGISTER, ['pod/1', 'pod', 42, '1.2.3', ['default'], ['task'], 10])
  await setClock(client, '2030-01-01T00:01:00Z')

  await ask(client, REGISTER, ['pod/1', 'pod', 42, '1.2.3', ['other'], ['task'], 3])

  expect(await askRow(db.admin, KNOWN)).toMatchObject({
    queues: ['other'],
    concurrency: 3,
    started_at: new Date('2030-01-01T00:00:00Z'),
    heartbeat_at: new Date('2030-01-01T00:01:00Z'),
  })
})
