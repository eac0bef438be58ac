// enqueue_as_operator: an operator's enqueue is written down with the job, or neither is there.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const enqueue = (jobs: object[], actor: string | null) =>
  askList<string>(db.pool, `select * from holdfast.enqueue_as_operator_v1($1, '{}', 'always', $2)`, [
    JSON.stringify(jobs),
    actor,
  ])

test('each job has its entry in the audit', async () => {
  const ids = await enqueue(
    [
      { type: 'a', input: {} },
      { type: 'b', input: {} },
    ],
    'ada',
  )

  expect(await ask(db.admin, 'select actor, action, job_id from holdfast.audit order by id')).toEqual(
    ids.map((job_id) => ({ actor: 'ada', action: 'enqueue', job_id })),
  )
  expect(await askList(db.admin, 'select type from holdfast.job order by id')).toEqual(['a', 'b'])
})

test('without a name the database role did it', async () => {
  await enqueue([{ type: 'a', input: {} }], null)

  expect(await askList(db.admin, 'select actor from holdfast.audit')).toEqual(
    await askList(db.pool, 'select session_user'),
  )
})

test('a refused enqueue leaves neither job nor entry', async () => {
  await expect(
    enqueue(
      [
        { type: 'a', input: {} },
        { type: '', input: {} },
      ],
      'ada',
    ),
  ).rejects.toMatchObject({ code: 'JH005' })

  expect(await ask(db.admin, 'select from holdfast.audit')).toEqual([])
  expect(await ask(db.admin, 'select from holdfast.job')).toEqual([])
})
