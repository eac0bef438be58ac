// prune_jobs: what is finished and old goes, with all that belongs to it; what lives stays.
import type pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const OLD = '2030-01-01T12:00:00Z'
const NOW = '2030-01-10T12:00:00Z'
const PRUNE = 'select holdfast.prune_jobs($1, $2)'
const jobs = () => askList(db.admin, 'select id from holdfast.job order by id')
const partitions = () =>
  askList(db.admin, `select relname from pg_class where relname like 'outcome_2030%' and relkind = 'r' order by 1`)

let client: pg.Client
const prune = (keep = '7 days', limit = 1000) => askValue<number>(client, PRUNE, [keep, limit])
beforeEach(async () => {
  client = await db.connect()
  await setClock(client, OLD)
  await ask(client, 'select holdfast.make_outcome_partitions_v1(0)')
})

test('finished jobs older than the retention go, younger ones stay', async () => {
  await givenIn(client).finishedJob('completed')
  await setClock(client, NOW)
  const young = await givenIn(client).finishedJob('completed')

  expect(await prune()).toBe(1)
  expect(await prune()).toBe(0)
  expect(await jobs()).toEqual([young.job_id])
})

test('the day of outcomes is dropped whole once its jobs are gone', async () => {
  await givenIn(client).finishedJob('completed')
  await setClock(client, NOW)

  await prune()
  await prune()

  expect(await partitions()).toEqual([])
  expect(await askList(db.admin, 'select job_id from holdfast.outcome')).toEqual([])
})

test('only whole days before the retention count', async () => {
  await givenIn(client).finishedJob('completed')
  await setClock(client, '2030-01-08T23:59:59Z')
  expect(await prune('7 days')).toBe(0)
  expect(await partitions()).toEqual(['outcome_20300101'])

  await setClock(client, '2030-01-09T00:00:00Z')
  expect(await prune('7 days')).toBe(1)
})

test('pending and running jobs stay, however old', async () => {
  const pending = await givenIn(client).pendingJob()
  const { job_id } = await givenIn(client).runningJob()
  await setClock(client, NOW)

  expect(await prune('0')).toBe(0)
  expect(await jobs()).toEqual([pending, job_id])
})

test('a job goes with the record of its failures, and the failures of others stay', async () => {
  await givenIn(client).finishedJob('failed')
  const alive = await givenIn(client).runningJob()
  await ask(client, 'select * from holdfast.fail_jobs($1)', [settlement(alive)])
  await setClock(client, NOW)

  await prune()

  expect(await askList(db.admin, 'select job_id from holdfast.attempt')).toEqual([alive.job_id])
})

test('an outcome in the default partition goes with its job', async () => {
  await setClock(client, '2029-06-01T00:00:00Z')
  await givenIn(client).finishedJob('completed')
  await setClock(client, NOW)

  expect(await prune()).toBe(1)
  expect(await askList(db.admin, 'select job_id from holdfast.outcome')).toEqual([])
})

test('a job that was retried lives on, also when it has finished again', async () => {
  const [waiting, again] = [await givenIn(client).finishedJob('failed'), await givenIn(client).finishedJob('failed')]
  await setClock(client, NOW)
  await ask(client, 'select holdfast.retry_job($1), holdfast.retry_job($2)', [waiting.job_id, again.job_id])
  await ask(client, 'select * from holdfast.complete_jobs($1)', [
    settlement(await givenIn(client).claimed(again.job_id)),
  ])

  expect(await prune()).toBe(0)
  expect(await jobs()).toEqual([waiting.job_id, again.job_id])
})

test('no more than the limit go in one call', async () => {
  for (let i = 0; i < 5; i += 1) await givenIn(client).finishedJob('completed')
  await setClock(client, NOW)

  expect([await prune('7 days', 3), await prune('7 days', 3), await prune('7 days', 3)]).toEqual([3, 2, 0])
})

test('a dedupe_id can be used again once its job is pruned', async () => {
  const { job_id } = await givenIn(client).finishedJob('completed', { dedupe_id: 'd' })
  await setClock(client, NOW)
  await prune()

  expect(await givenIn(client).pendingJob({ dedupe_id: 'd' })).not.toBe(job_id)
})

describe('keys', () => {
  test('a key whose jobs are all gone is forgotten, but not how far its fence had come', async () => {
    for (let i = 0; i < 3; i += 1) await givenIn(client).finishedJob('completed', { key: 'k' })
    await setClock(client, NOW)
    await prune()
    await prune()
    expect(await askList(db.admin, 'select key from holdfast.job_key')).toEqual([])

    const lease = await givenIn(client).runningJob({ key: 'k' })
    const other = await givenIn(client).runningJob({ key: 'never seen' })

    expect([lease.token, other.token]).toEqual(['4', '4'])
  })

  test('a key with a job left stays', async () => {
    await givenIn(client).finishedJob('completed', { key: 'k' })
    await givenIn(client).pendingJob({ key: 'k' })
    await setClock(client, NOW)
    await prune()
    await prune()

    expect(await askList(db.admin, 'select key from holdfast.job_key')).toEqual(['k'])
  })
})

describe('beside others', () => {
  test('a job that an open transaction retries survives, and its day with it', async () => {
    const { job_id } = await givenIn(client).finishedJob('failed')
    const operator = await db.connect()
    await setClock(operator, NOW)
    await setClock(client, NOW)
    await operator.query('begin')
    await ask(operator, 'select holdfast.retry_job($1)', [job_id])

    expect(await prune()).toBe(0)
    await operator.query('commit')

    expect(await jobs()).toEqual([job_id])
    expect(await askValue(db.admin, 'select holdfast.state_of($1)', [job_id])).toBe('pending')
  })

  test('while its job is locked a day is not dropped', async () => {
    const { job_id } = await givenIn(client).finishedJob('failed')
    await setClock(client, NOW)
    const other = await db.connect('admin')
    await other.query('begin')
    await other.query('select from holdfast.job where id = $1 for update', [job_id])

    expect(await prune()).toBe(0)
    expect(await partitions()).toEqual(['outcome_20300101'])
    await other.query('rollback')

    expect(await prune()).toBe(1)
  })

  test('while another transaction prunes, the second does nothing and does not wait', async () => {
    await givenIn(client).finishedJob('completed')
    await setClock(client, NOW)
    const other = await db.connect()
    await setClock(other, NOW)
    await other.query('begin')
    expect(await askValue(other, PRUNE, ['7 days', 10])).toBe(1)

    expect(await prune()).toBe(0)
    await other.query('commit')
  })
})

test.each([
  ['a negative retention', '-1 day', 10],
  ['a limit of nothing', '1 day', 0],
  ['a limit beyond a hundred thousand', '1 day', 100_001],
])('%s is refused by its code', async (_what, keep, limit) => {
  await expect(prune(keep, limit)).rejects.toMatchObject({ code: 'JH005' })
})

describe('pipelines', () => {
  const graph = [{ name: 'a' }, { name: 'b', after: ['a'] }]
  const left = () =>
    askRow(
      db.admin,
      `select (select count(*)::int from holdfast.pipeline) as pipelines, (select count(*)::int from holdfast.job) as jobs,
              (select count(*)::int from holdfast.pipeline_step) as steps,
              (select count(*)::int from holdfast.dependency) as edges`,
    )

  test('one whose jobs have all ended long ago goes whole', async () => {
    const { id } = await enqueuePipeline(client, graph)
    const steps = stepsOf(client, db.admin, id)
    await steps.complete('a')
    await steps.complete('b')
    await setClock(client, NOW)

    expect(await prune()).toBe(2)
    expect(await prune()).toBe(0)

    expect(await left()).toEqual({ pipelines: 0, jobs: 0, steps: 0, edges: 0 })
    expect(await partitions()).toEqual([])
  })

  test('one that lives keeps its ended steps and their day, while others of that day go', async () => {
    const { id } = await enqueuePipeline(client, graph)
    await stepsOf(client, db.admin, id).complete('a', 'needed')
    await givenIn(client).finishedJob('completed')
    await setClock(client, NOW)

    expect(await prune()).toBe(1)
    expect(await prune()).toBe(0)

    expect(await left()).toEqual({ pipelines: 1, jobs: 2, steps: 2, edges: 1 })
    expect(await askList(db.admin, 'select output from holdfast.outcome where output is not null')).toEqual(['needed'])
  })

  test('one that has ended of late stays whole', async () => {
    const { id } = await enqueuePipeline(client, graph)
    const steps = stepsOf(client, db.admin, id)
    await steps.complete('a')
    await setClock(client, NOW)
    await steps.complete('b')

    expect(await prune()).toBe(0)

    expect(await left()).toEqual({ pipelines: 1, jobs: 2, steps: 2, edges: 1 })
  })
})
