// unserved_work: due jobs that no live worker will run, and why.
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const UNSERVED = `select queue, type, reason, jobs from holdfast.unserved_work_v1('0')`

const worker = (queues: string, types: string) =>
  ask(db.pool, `select holdfast.register_worker_v1('w', 'pod', 1, '1', $1, $2, 1)`, [queues, types])

test('each kind of unserved work has its reason, and served work is left out', async () => {
  const given = givenIn(db.pool)
  await worker('{served}', '{known}')
  await given.pendingJob({ queue: 'served', type: 'known' })
  await given.pendingJob({ queue: 'served', type: 'unknown' })
  await given.pendingJob({ queue: 'served', type: 'unknown', priority: 0 })
  await given.pendingJob({ queue: 'lonely', type: 'known' })
  await given.pendingJob({ queue: 'halted', type: 'known' })
  await ask(db.pool, `select holdfast.pause_queue('halted')`)

  expect(await ask(db.pool, UNSERVED)).toEqual([
    { queue: 'halted', type: 'known', reason: 'paused', jobs: 1 },
    { queue: 'lonely', type: 'known', reason: 'no_worker', jobs: 1 },
    { queue: 'served', type: 'unknown', reason: 'no_handler', jobs: 2 },
  ])
})

test('what is not due, or not due for long enough, is left out', async () => {
  const given = givenIn(db.pool)
  await given.pendingJob({ run_at: '2090-01-01T00:00:00Z' })
  await given.pendingJob()

  expect(await ask(db.pool, `select * from holdfast.unserved_work_v1('1 hour')`)).toEqual([])
})

test('a type without a handler is found behind nothing but its own kind, a hundred of each priority', async () => {
  await worker('{default}', '{known}')
  await ask(
    db.pool,
    `select holdfast.enqueue_jobs(jsonb_agg(jsonb_build_object('input', n)), '{"type": "unknown"}')
                        from generate_series(1, 500) as n`,
  )

  expect(await ask(db.pool, UNSERVED)).toEqual([{ queue: 'default', type: 'unknown', reason: 'no_handler', jobs: 100 }])
})
