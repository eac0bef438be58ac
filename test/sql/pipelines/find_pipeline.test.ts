// find_pipeline: how far a pipeline is.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const find = (id: string) => askRow(db.pool, 'select * from holdfast.find_pipeline($1)', [id])

test('jobs are counted by their state, and the pipeline runs while one of them lives', async () => {
  const { id, result_job } = await enqueuePipeline(
    db.pool,
    [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd', after: ['a', 'b', 'c'] }],
    { result: 'd' },
  )
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.complete('a')
  await steps.leaseOf('b')

  expect(await find(id)).toMatchObject({
    id,
    name: 'test',
    state: 'running',
    result_job,
    stopped_by: null,
    waiting: 1,
    pending: 1,
    running: 1,
    completed: 1,
    failed: 0,
  })
})

test('a pipeline has the state of what stopped it, else of its result', async () => {
  const stopped = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b', after: ['a'] }], { result: 'b' })
  await stepsOf(db.pool, db.admin, stopped.id).fail('a')
  const went = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b', after: ['a'] }], {
    result: 'b',
    on_failure: 'continue',
  })
  const steps = stepsOf(db.pool, db.admin, went.id)
  await steps.fail('a')
  await steps.complete('b')

  expect((await find(stopped.id)).state).toBe('failed')
  expect((await find(went.id)).state).toBe('completed')
})

test('jobs with a pipeline_id of their own choice are one too, without a name', async () => {
  const pipeline_id = '11111111-1111-4111-8111-111111111111'
  await ask(db.pool, `select holdfast.enqueue('task', '{}', $1)`, [{ pipeline_id }])

  expect(await find(pipeline_id)).toMatchObject({ name: null, state: 'running', pending: 1 })
})

test('an unknown pipeline has no row', async () => {
  expect(await ask(db.pool, `select * from holdfast.find_pipeline('00000000-0000-4000-8000-000000000000')`)).toEqual([])
})
