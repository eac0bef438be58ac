// list_queues: what is in each queue, who serves it, and whether it is paused.
import { expect, test } from 'vitest'
import { ask, type Row } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { enqueuePipeline } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const list = (after = '', n = 50): Promise<Row[]> =>
  ask(db.pool, 'select * from holdfast.list_queues_v1($1, $2)', [after, n])
const named = async (name: string) => (await list()).find((row) => row.name === name)

test('jobs are counted by where they stand', async () => {
  await given().pendingJob({ priority: 9 })
  await given().pendingJob({ priority: 0 })
  await given().pendingJob({ delay: '1h' })
  await given().runningJob({ key: 'k' })
  await given().pendingJob({ key: 'k' })
  await ask(db.admin, `update holdfast.ready set parked = true where key = 'k'`)

  expect(await named('default')).toMatchObject({
    pending: 4,
    due: 2,
    parked: 1,
    waiting: 0,
    running: 1,
    paused_at: null,
    live_workers: 0,
  })
})

test('the job that has been due for longest is found, whatever its priority', async () => {
  const client = await db.connect()
  await setClock(client, '2026-03-01T12:00:00Z')
  await givenIn(client).pendingJob({ priority: 9 })
  await setClock(client, '2026-03-01T12:01:00Z')
  await givenIn(client).pendingJob({ priority: 0 })

  expect(await named('default')).toMatchObject({ oldest_due_at: new Date('2026-03-01T12:00:00Z') })
})

test('a waiting job counts in the queue that it will go to, and makes it known', async () => {
  await enqueuePipeline(db.pool, [
    { name: 'a', queue: 'first' },
    { name: 'b', queue: 'second', after: ['a'] },
  ])

  expect(await named('first')).toMatchObject({ pending: 1, waiting: 0 })
  expect(await named('second')).toMatchObject({ pending: 0, waiting: 1, running: 0 })
})

test('jobs that two workers have died with are pending too', async () => {
  const id = await given().pendingJob({ queue: 'quarantine' })
  await ask(db.admin, 'update holdfast.ready set crashes = 2 where job_id = $1', [id])

  expect(await named('quarantine')).toMatchObject({ pending: 1, due: 0 })
})

test('a queue is known by its jobs, its workers, its types and its pause', async () => {
  await given().pendingJob({ queue: 'a' })
  await given().runningJob({ queue: 'b' })
  await ask(db.pool, `select holdfast.pause_queue('c', 'ada')`)
  await ask(db.admin, `insert into holdfast.job_type (type, queue, updated_at) values ('t', 'd', holdfast.now())`)
  await ask(
    db.admin,
    `insert into holdfast.worker (id, pod, pid, version, queues, types, concurrency, started_at, heartbeat_at)
     values ('w', 'p', 1, '1', '{e,c}', '{t}', 1, holdfast.now(), holdfast.now()),
            ('x', 'p', 1, '1', '{e}', '{t}', 1, holdfast.now(), holdfast.now() - interval '1 minute')`,
  )

  expect((await list()).map((row) => [row.name, row.live_workers])).toEqual([
    ['a', 0],
    ['b', 0],
    ['c', 1],
    ['d', 0],
    ['e', 1],
  ])
  expect(await named('c')).toMatchObject({ paused_at: expect.any(Date), paused_by: 'ada', pending: 0 })
})

test('queues come by name, page by page', async () => {
  for (const queue of ['b', 'a', 'c']) await given().pendingJob({ queue })

  expect((await list('', 2)).map((row) => row.name)).toEqual(['a', 'b'])
  expect((await list('b', 2)).map((row) => row.name)).toEqual(['c'])
})

test('no count goes beyond ten thousand and one', async () => {
  await ask(
    db.admin,
    `select holdfast.enqueue_jobs((select jsonb_agg('{"type": "task", "input": {}}'::jsonb) from generate_series(1, 1000)))
    from generate_series(1, 11)`,
  )

  expect(await named('default')).toMatchObject({ pending: 10_001, due: 10_001 })
})
