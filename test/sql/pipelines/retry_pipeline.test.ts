// retry_pipeline: goes on from the steps that did not complete.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const JOIN = [{ name: 'a' }, { name: 'b' }, { name: 'c', after: ['a', 'b'] }, { name: 'd', after: ['c'] }]
const retry = (id: string) => askValue<number>(db.pool, `select holdfast.retry_pipeline($1, 'ada')`, [id])

test('what stopped and what was cancelled by it is open again; what completed stays', async () => {
  const { id } = await enqueuePipeline(db.pool, JOIN)
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.complete('a')
  await steps.fail('b')
  const token = await askValue(db.admin, 'select token from holdfast.jobs where id = $1', [await steps.jobOf('b')])

  expect(await retry(id)).toBe(3)

  expect(await steps.states()).toEqual({ a: 'completed', b: 'pending', c: 'waiting', d: 'waiting' })
  expect(await askRow(db.admin, 'select token, attempts from holdfast.ready')).toEqual({ token, attempts: 0 })
  expect(await askRow(db.admin, 'select stopped_by, stopped_at from holdfast.pipeline')).toEqual({
    stopped_by: null,
    stopped_at: null,
  })
  await steps.complete('b')
  await steps.complete('c')
  await steps.complete('d')
  expect(await askValue(db.pool, 'select state from holdfast.find_pipeline($1)', [id])).toBe('completed')
})

test('where the rest went on, all that came after the failed step runs again', async () => {
  const { id } = await enqueuePipeline(db.pool, JOIN, { on_failure: 'continue' })
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.fail('a')
  for (const step of ['b', 'c', 'd']) await steps.complete(step)

  expect(await retry(id)).toBe(3)

  expect(await steps.states()).toEqual({ a: 'pending', b: 'completed', c: 'waiting', d: 'waiting' })
})

test('a cancelled pipeline can be retried', async () => {
  const { id } = await enqueuePipeline(db.pool, JOIN)
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.complete('a')
  await ask(db.pool, 'select * from holdfast.cancel_pipeline($1)', [id])

  expect(await retry(id)).toBe(3)

  expect(await steps.states()).toEqual({ a: 'completed', b: 'pending', c: 'waiting', d: 'waiting' })
})

test('a retry is refused while a step runs, when all have completed, and for an unknown pipeline', async () => {
  const { id } = await enqueuePipeline(db.pool, JOIN)
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.leaseOf('a')
  await steps.fail('b')
  await expect(retry(id)).rejects.toMatchObject({ code: 'JH003' })
  const whole = await enqueuePipeline(db.pool, [{ name: 'a' }])
  await stepsOf(db.pool, db.admin, whole.id).complete('a')

  await expect(retry(whole.id)).rejects.toMatchObject({ code: 'JH003' })
  await expect(retry('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ code: 'JH021' })
})

test('a keyed step that is retried counts as the newest of its key', async () => {
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a', key: 'k', key_policy: 'supersede' }])
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.fail('a')
  const other = await askValue<string>(
    db.pool,
    `select holdfast.enqueue('task', '{}', '{"key": "k", "key_policy": "supersede"}')`,
  )

  await retry(id)

  expect(await askValue(db.pool, `select holdfast.claim_job($1, 'w')`, [other])).toBe(false)
  await steps.complete('a')
})
