// count_jobs: how many jobs fit, up to a cap.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const count = (filter: object) => askRow(db.pool, 'select * from holdfast.count_jobs_v1($1)', [JSON.stringify(filter)])

test('few jobs are counted exactly, whatever place they are in', async () => {
  await givenIn(db.pool).pendingJob({ queue: 'bulk' })
  await givenIn(db.pool).finishedJob('failed', { queue: 'bulk' })
  await givenIn(db.pool).finishedJob('failed')

  expect(await count({})).toEqual({ count: 3, is_capped: false })
  expect(await count({ queues: ['bulk'] })).toEqual({ count: 2, is_capped: false })
  expect(await count({ queues: ['bulk'], states: ['failed'] })).toEqual({ count: 1, is_capped: false })
  expect(await count({ states: ['running'] })).toEqual({ count: 0, is_capped: false })
})

test('more than ten thousand are ten thousand and more', async () => {
  await ask(
    db.admin,
    `select holdfast.enqueue_jobs((select jsonb_agg('{"type": "task", "input": {}}'::jsonb) from generate_series(1, 1000)))
    from generate_series(1, 11)`,
  )

  expect(await count({ states: ['pending'] })).toEqual({ count: 10_000, is_capped: true })
})

test('a filter that is none is refused', async () => {
  await expect(count([])).rejects.toMatchObject({ code: 'JH005' })
})
