// list_workers: who is registered, what they serve and run.
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const list = (after = '', n = 50) => ask(db.pool, 'select * from holdfast.list_workers_v1($1, $2)', [after, n])

async function register(id: string, heartbeatAt = '2026-03-01T12:00:00Z'): Promise<void> {
  await ask(
    db.admin,
    `insert into holdfast.worker (id, pod, pid, version, queues, types, concurrency, started_at, heartbeat_at, rss_bytes)
     values ($1, 'pod', 7, '1.0', '{default}', '{task}', 4, $2, $2, 1000)`,
    [id, heartbeatAt],
  )
}

test('a worker is shown with its jobs and the age of its heartbeat', async () => {
  await register('worker-1')
  const client = await db.connect()
  await setClock(client, '2026-03-01T12:00:02.500Z')
  const one = (await givenIn(client).runningJob()).job_id
  const two = (await givenIn(client).runningJob()).job_id

  expect(await ask(client, 'select * from holdfast.list_workers_v1()')).toEqual([
    {
      id: 'worker-1',
      pod: 'pod',
      pid: 7,
      version: '1.0',
      queues: ['default'],
      types: ['task'],
      concurrency: 4,
      started_at: new Date('2026-03-01T12:00:00Z'),
      heartbeat_at: new Date('2026-03-01T12:00:00Z'),
      heartbeat_age_ms: 2500,
      has_lock: false,
      rss_bytes: '1000',
      is_alone: false,
      loop_delay_ms: null,
      clock_offset_ms: null,
      running: 2,
      is_capped: false,
      jobs: [two, one],
    },
  ])
})

test('workers come by id, page by page', async () => {
  for (const id of ['b', 'a', 'c']) await register(id)

  expect((await list('', 2)).map((row) => row.id)).toEqual(['a', 'b'])
  expect((await list('b', 2)).map((row) => row.id)).toEqual(['c'])
  expect(await list('c')).toEqual([])
})
