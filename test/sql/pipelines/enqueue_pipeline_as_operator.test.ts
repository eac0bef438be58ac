// enqueue_pipeline_as_operator: as enqueue_pipeline, with the name of who did it.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const enqueue = (steps: object[]) =>
  askRow(db.pool, `select * from holdfast.enqueue_pipeline_as_operator_v1($1, $2, 'always', 'ada')`, [
    JSON.stringify({ name: 'import', input: {}, result: 'b' }),
    JSON.stringify(steps.map((step) => ({ type: 'task', ...step }))),
  ])

test('the pipeline is stored and written down together', async () => {
  const { id, result_job } = await enqueue([{ name: 'a' }, { name: 'b', after: ['a'] }])

  expect(await ask(db.admin, 'select actor, action, job_id, details from holdfast.audit')).toEqual([
    { actor: 'ada', action: 'enqueue_pipeline', job_id: null, details: { pipeline_id: id, name: 'import', steps: 2 } },
  ])
  expect(await askValue(db.admin, 'select step from holdfast.jobs where id = $1', [result_job])).toBe('b')
})

test('what is refused leaves no trace', async () => {
  await expect(enqueue([{ name: 'b', after: ['nobody'] }])).rejects.toMatchObject({ code: 'JH023' })

  expect(await ask(db.admin, 'select from holdfast.audit')).toEqual([])
})
