// list_pipeline_steps: a pipeline's jobs as a graph, page by page.
import { expect, test } from 'vitest'
import { ask, type Row } from '../../support/ask.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const list = (pipeline: string, after = '0', n = 50): Promise<Row[]> =>
  ask(db.pool, 'select * from holdfast.list_pipeline_steps_v1($1, $2, $3)', [pipeline, after, n])

test('jobs come in the order of the graph, each with its name, its state and those it comes after', async () => {
  const { id } = await enqueuePipeline(db.pool, [
    { name: 'end', after: ['left', 'right'] },
    { name: 'left', after: ['begin'] },
    { name: 'right', after: ['begin'] },
    { name: 'begin' },
  ])
  const { complete, jobOf } = stepsOf(db.pool, db.admin, id)
  await complete('begin')

  const rows = await list(id)
  const begin = await jobOf('begin')
  const middle = [await jobOf('left'), await jobOf('right')].sort((a, b) => Number(a) - Number(b))

  expect(rows.map(({ step, state }) => [step, state])).toEqual([
    ['begin', 'completed'],
    ...(middle[0] === (await jobOf('left'))
      ? [
          ['left', 'pending'],
          ['right', 'pending'],
        ]
      : [
          ['right', 'pending'],
          ['left', 'pending'],
        ]),
    ['end', 'waiting'],
  ])
  expect(rows.map(({ depends_on, dependencies }) => [depends_on, dependencies])).toEqual([
    [[], 0],
    [[begin], 1],
    [[begin], 1],
    [middle, 2],
  ])
})

test.each([1, 2, 7])('pages of %s have every job once, and none of another pipeline', async (n) => {
  await enqueuePipeline(db.pool, [{ name: 'other' }])
  const steps = Array.from({ length: 7 }, (_, i) => ({ name: `s${i}` }))
  const { id } = await enqueuePipeline(db.pool, steps)
  await enqueuePipeline(db.pool, [{ name: 'other' }])

  const found: string[] = []
  for (let after = '0'; ; ) {
    const rows = await list(id, after, n)
    found.push(...rows.map(({ step }) => step))
    if (rows.length < n) break
    after = rows.at(-1)?.id
  }

  expect(found.sort()).toEqual(steps.map(({ name }) => name))
})

test('of many edges the first 200 are told and all are counted', async () => {
  const wide = Array.from({ length: 300 }, (_, i) => ({ name: `part ${i}` }))
  const { id } = await enqueuePipeline(db.pool, [...wide, { name: 'end', after: wide.map(({ name }) => name) }])

  const last = (await list(id, '0', 200)).at(-1)
  const end = (await list(id, last?.id, 200)).at(-1)

  expect(end).toMatchObject({ step: 'end', dependencies: 300 })
  expect(end?.depends_on).toHaveLength(200)
})

test('what takes a step back is named on both sides', async () => {
  const { id } = await enqueuePipeline(
    db.pool,
    [
      { name: 'book', compensate: { type: 'unbook' } },
      { name: 'pay', after: ['book'] },
    ],
    { on_failure: 'compensate' },
  )
  const { complete, fail, jobOf } = stepsOf(db.pool, db.admin, id)
  await complete('book')
  await fail('pay')

  expect(await list(id)).toMatchObject([
    { step: 'book', compensation: 'unbook', compensates: null },
    { step: 'pay', compensation: null },
    { step: 'undo book', type: 'unbook', compensates: await jobOf('book') },
  ])
})

test('an unknown pipeline has none', async () => {
  expect(await list('0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a')).toEqual([])
})
