// work_bulk: small steps, each done once, whatever happens in between.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { until } from '../../support/holdfast.js'
import { enqueuePipeline } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const start = (operation: string, filter: object) =>
  askValue<string>(db.pool, `select id from holdfast.start_bulk_v1($1, $2, 'why', 'ada')`, [
    operation,
    JSON.stringify(filter),
  ])
const step = (n = 100, session: Parameters<typeof ask>[0] = db.pool) =>
  ask(session, 'select * from holdfast.work_bulk_v1($1)', [n])
const states = () => askList(db.admin, 'select state from holdfast.jobs order by id')

test('failed jobs are retried step by step, and the operation ends when none is left', async () => {
  for (let i = 0; i < 5; i += 1) await given().finishedJob('failed')
  await given().finishedJob('completed')
  await start('retry', { states: ['failed'] })

  expect(await step(2)).toMatchObject([{ state: 'open', done: '2' }])
  expect(await step(2)).toMatchObject([{ state: 'open', done: '4' }])
  expect(await step(2)).toMatchObject([{ state: 'completed', done: '5', finished_at: expect.any(Date) }])
  expect(await step(2)).toEqual([])
  expect(await states()).toEqual([...Array(5).fill('pending'), 'completed'])
})

test('pending and running jobs are cancelled, with the reason, and their keys are free', async () => {
  await given().runningJob({ key: 'k' })
  await given().pendingJob({ key: 'k' })
  await given().pendingJob()
  await start('cancel', { states: ['pending', 'running'] })

  expect(await step()).toMatchObject([{ state: 'completed', done: '3' }])
  expect(await states()).toEqual(['cancelled', 'cancelled', 'cancelled'])
  expect(await askList(db.admin, `select error ->> 'message' from holdfast.outcome`)).toEqual(['why', 'why', 'why'])
})

test('waiting jobs are cancelled, and so are the steps that wait for them', async () => {
  const steps = [{ name: 'a' }, { name: 'b', after: ['a'], tags: ['t'] }, { name: 'c', after: ['b'] }]
  await enqueuePipeline(db.pool, steps, { on_failure: 'continue' })
  await start('cancel', { states: ['waiting'], tags: ['t'] })

  expect(await step()).toMatchObject([{ state: 'completed', expected: '1', done: '1' }])
  expect(await states()).toEqual(['pending', 'cancelled', 'pending'])
})

test('each job has its own entry in the audit, by the one who asked', async () => {
  const ids = [(await given().finishedJob('failed')).job_id, (await given().finishedJob('failed')).job_id]
  await start('retry', { states: ['failed'] })
  await step()

  expect(
    await ask(db.admin, `select actor, job_id from holdfast.audit where action = 'retry' order by job_id`),
  ).toEqual(ids.map((job_id) => ({ actor: 'ada', job_id })))
})

test('jobs that fail again after their retry, or come later, are not touched again', async () => {
  await given().finishedJob('failed')
  await given().finishedJob('failed')
  await start('retry', { states: ['failed'] })
  await step(1)
  const again = await given().finishedJob('failed')

  expect(await step(10)).toMatchObject([{ state: 'completed', done: '2' }])
  expect(await askValue(db.admin, 'select state from holdfast.jobs where id = $1', [again.job_id])).toBe('failed')
})

test('a step that is undone is done again from where it began', async () => {
  for (let i = 0; i < 3; i += 1) await given().finishedJob('failed')
  const id = await start('retry', { states: ['failed'] })
  await step(1)
  const crashing = await db.connect()
  await crashing.query('begin')
  expect(await step(1, crashing)).toMatchObject([{ done: '2' }])
  await crashing.query('rollback')

  expect(await askRow(db.pool, 'select done from holdfast.list_bulk_v1($1)', [id])).toEqual({ done: '1' })
  expect(await step(10)).toMatchObject([{ state: 'completed', done: '3', skipped: '0' }])
})

test('while one worker is at an operation the others take the next, or nothing', async () => {
  await given().finishedJob('failed')
  await given().finishedJob('cancelled')
  const first = await start('retry', { states: ['failed'] })
  const second = await start('retry', { states: ['cancelled'] })
  const one = await db.connect()
  await one.query('begin')
  expect(await step(1, one)).toMatchObject([{ id: first }])

  expect(await step()).toMatchObject([{ id: second, state: 'completed' }])
  expect(await step()).toEqual([])
  await one.query('rollback')
})

test('a job that another has moved on meanwhile is skipped', async () => {
  const lease = await given().finishedJob('failed')
  await start('retry', { states: ['failed'] })
  const one = await db.connect()
  await one.query('begin')
  await ask(one, 'select holdfast.retry_job($1)', [lease.job_id])
  const pid = await askValue<number>(one, 'select pg_backend_pid()')
  const stepped = step()
  await until(
    async () =>
      (await askList(db.admin, 'select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))', [pid])).length >
      0,
  )
  await one.query('commit')

  expect(await stepped).toMatchObject([{ state: 'completed', done: '0', skipped: '1' }])
})

test('an operation that fails for one job is recorded, and the others are done', async () => {
  const bad = (await given().finishedJob('failed')).job_id
  await given().finishedJob('failed')
  await ask(db.admin, 'update holdfast.outcome set token = 9223372036854775807 where job_id = $1', [bad])
  await ask(db.admin, `alter table holdfast.ready add constraint no_such_token check (token < 9223372036854775807)`)
  await start('retry', { states: ['failed'] })
  try {
    expect(await step()).toMatchObject([{ done: '1', failed: '1', error: { name: '23514', job_id: Number(bad) } }])
  } finally {
    await ask(db.admin, 'alter table holdfast.ready drop constraint no_such_token')
  }
})
