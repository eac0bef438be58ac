// report_load: what a worker reports of its process, and list_workers, which shows it.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const REGISTER = `select holdfast.register_worker_v1($1, 'pod', 1, '1.2.3', '{default}', '{task}', 4)`

test('a worker’s report is shown beside what it registered', async () => {
  const client = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')
  await ask(client, REGISTER, ['w'])
  await setClock(client, '2090-01-01T00:00:03Z')

  await ask(client, `select holdfast.report_load_v1('w', true, 12.5, '2090-01-01T00:00:05Z')`)

  expect(await askRow(client, 'select * from holdfast.list_workers_v1()')).toMatchObject({
    id: 'w',
    version: '1.2.3',
    queues: ['default'],
    concurrency: 4,
    heartbeat_age_ms: 3000,
    is_alone: true,
    loop_delay_ms: 12.5,
    clock_offset_ms: 2000,
  })
})

test('a report of a worker whose row is gone is no error and makes no row', async () => {
  await ask(db.pool, `select holdfast.report_load_v1('nobody', false, 1, now())`)

  expect(await ask(db.pool, 'select * from holdfast.list_workers_v1()')).toEqual([])
})
