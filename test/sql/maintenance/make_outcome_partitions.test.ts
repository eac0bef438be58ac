// make_outcome_partitions: the days ahead exist, and settling never fails for want of one.
import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const make = (days?: number) => askValue<number>(client, 'select holdfast.make_outcome_partitions_v1($1)', [days ?? 7])
const partitionOf = (id: string) =>
  askValue(db.admin, 'select tableoid::regclass::text from holdfast.outcome where job_id = $1', [id])

let client: pg.Client
beforeEach(async () => {
  client = await db.connect()
})

test('today and the days asked for are made once, by the clock', async () => {
  await setClock(client, '2040-03-30T12:00:00Z')

  expect(await make(3)).toBe(4)
  expect(await make(3)).toBe(0)
  expect(await make(4)).toBe(1)
  expect(
    await askList(
      db.admin,
      `select relname from pg_class where relname like 'outcome_20400%' and relkind = 'r' order by 1`,
    ),
  ).toEqual(['outcome_20400330', 'outcome_20400331', 'outcome_20400401', 'outcome_20400402', 'outcome_20400403'])
})

test('an outcome of a day without a partition lands in the default, and moves when its day is made', async () => {
  await setClock(client, '2041-01-01T00:00:00Z')
  const first = await givenIn(client).finishedJob('completed')
  await setClock(client, '2041-01-01T23:59:59.999Z')
  const last = await givenIn(client).finishedJob('failed')
  await setClock(client, '2041-01-03T00:00:00Z')
  const later = await givenIn(client).finishedJob('completed')
  expect(await partitionOf(first.job_id)).toBe('holdfast.outcome_default')

  await setClock(client, '2041-01-01T12:00:00Z')
  expect(await make(1)).toBe(2)

  expect(await partitionOf(first.job_id)).toBe('holdfast.outcome_20410101')
  expect(await partitionOf(last.job_id)).toBe('holdfast.outcome_20410101')
  expect(await partitionOf(later.job_id)).toBe('holdfast.outcome_default')
})

test('an outcome of a made day goes straight into it and is found by its job', async () => {
  await setClock(client, '2042-01-01T00:00:00Z')
  await make(0)
  const { job_id } = await givenIn(client).finishedJob('completed')

  expect(await partitionOf(job_id)).toBe('holdfast.outcome_20420101')
  expect(await askValue(db.pool, 'select state from holdfast.find_job($1)', [job_id])).toBe('completed')
})

test('days are days of UTC, whatever the time zone of the session', async () => {
  await client.query(`set timezone = 'Pacific/Auckland'`)
  await setClock(client, '2043-01-01T20:00:00Z')
  await make(0)
  const { job_id } = await givenIn(client).finishedJob('completed')

  expect(await partitionOf(job_id)).toBe('holdfast.outcome_20430101')
})

test('no more than sixty days ahead are made', async () => {
  await setClock(client, '2044-01-01T00:00:00Z')

  expect(await make(10_000)).toBe(61)
})

test('while another transaction makes them, the second makes none and does not wait', async () => {
  const other = await db.connect()
  await setClock(other, '2045-01-01T00:00:00Z')
  await setClock(client, '2045-01-01T00:00:00Z')
  await other.query('begin')
  await ask(other, 'select holdfast.make_outcome_partitions_v1(0)')

  expect(await make(0)).toBe(0)
  await other.query('commit')
})
