// queue_facts: every queue with something to say, however many jobs wait in it.
import { expect, test } from 'vitest'
import { ask, askList, askRow } from '../support/ask.js'
import { givenIn } from '../support/given.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const FACTS = 'select name, due, running, live_workers, paused_by from holdfast.queue_facts_v1()'

test('a queue is shown for its jobs, its workers, its leases or its pause', async () => {
  const given = givenIn(db.pool)
  await given.pendingJob({ queue: 'b_jobs' })
  await given.pendingJob({ queue: 'b_jobs', priority: 1 })
  await given.pendingJob({ queue: 'c_later', run_at: '2090-01-01T00:00:00Z' })
  await given.runningJob({ queue: 'd_running' })
  await ask(db.pool, `select holdfast.pause_queue('a_paused', 'ada')`)
  await ask(db.pool, `select holdfast.register_worker_v1('w', 'pod', 1, '1', '{e_served}', '{task}', 1)`)

  expect(await ask(db.pool, FACTS)).toEqual([
    { name: 'a_paused', due: 0, running: 0, live_workers: 0, paused_by: 'ada' },
    { name: 'b_jobs', due: 2, running: 0, live_workers: 0, paused_by: null },
    { name: 'c_later', due: 0, running: 0, live_workers: 0, paused_by: null },
    { name: 'd_running', due: 0, running: 1, live_workers: 0, paused_by: null },
    { name: 'e_served', due: 0, running: 0, live_workers: 1, paused_by: null },
  ])
})

test('a worker that has not beaten for ten seconds serves nobody', async () => {
  await ask(db.pool, `select holdfast.register_worker_v1('w', 'pod', 1, '1', '{default}', '{task}', 1)`)
  await givenIn(db.pool).pendingJob()
  await ask(db.admin, `update holdfast.worker set beat_at = beat_at - interval '11 seconds'`)

  expect(await ask(db.pool, FACTS)).toMatchObject([{ name: 'default', due: 1, live_workers: 0 }])
})

test('counts end at 10,001, and the names of queues cost one step each', async () => {
  await ask(
    db.pool,
    `select holdfast.enqueue_jobs(jsonb_agg(jsonb_build_object('input', n)), '{"type": "task"}')
                        from generate_series(1, 11000) as n`,
  )
  await ask(db.admin, 'analyze holdfast.ready')

  const plan = await askList<string>(
    await withSettings(),
    `explain (analyze, costs off, timing off, summary off, buffers off)
     with recursive step(name) as (
       (select r.queue from holdfast.ready as r where not r.parked and r.crashes < 2 order by r.queue limit 1)
       union all
       select (select r.queue from holdfast.ready as r
                where r.queue > s.name and not r.parked and r.crashes < 2 order by r.queue limit 1)
         from step as s where s.name is not null)
     select * from step`,
  )

  expect(await askRow(db.pool, FACTS)).toMatchObject({ name: 'default', due: 10_001 })
  expect(plan.filter((line) => /Seq Scan|Sort/.test(line))).toEqual([])
})

async function withSettings() {
  const client = await db.connect('admin')
  for (const setting of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'])
    await client.query(`set ${setting} = off`)
  return client
}
