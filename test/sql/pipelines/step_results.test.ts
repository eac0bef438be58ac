// step_results: what a step's input is computed from.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('a step sees what those before it came to, by name, and what the pipeline was asked', async () => {
  const { id } = await enqueuePipeline(
    db.pool,
    [{ name: 'a' }, { name: 'b' }, { name: 'other' }, { name: 'c', after: ['a', 'b'] }],
    { on_failure: 'continue', input: { year: 2026 } },
  )
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.complete('a', { rows: 3 })
  await steps.complete('other', 'unseen')
  await steps.fail('b')

  expect(await askRow(db.pool, 'select * from holdfast.step_results_v1($1)', [await steps.jobOf('c')])).toEqual({
    pipeline: 'test',
    input: { year: 2026 },
    step: 'c',
    compensates: null,
    results: {
      a: { state: 'completed', output: { rows: 3 }, error: null },
      b: { state: 'failed', output: null, error: { name: 'Error', message: 'broken' } },
    },
  })
})

test('a compensation sees the step that it takes back', async () => {
  const { id } = await enqueuePipeline(
    db.pool,
    [
      { name: 'a', compensate: { type: 'undo' } },
      { name: 'b', after: ['a'] },
    ],
    { on_failure: 'compensate' },
  )
  const steps = stepsOf(db.pool, db.admin, id)
  await steps.complete('a', 'paid')
  await steps.fail('b')

  expect(
    await askRow(db.pool, 'select * from holdfast.step_results_v1($1)', [await steps.jobOf('undo a')]),
  ).toMatchObject({
    compensates: 'a',
    results: { a: { state: 'completed', output: 'paid' } },
  })
})

test('a job that is no step has no row', async () => {
  const id = await givenIn(db.pool).pendingJob()

  expect(await ask(db.pool, 'select * from holdfast.step_results_v1($1)', [id])).toEqual([])
})
