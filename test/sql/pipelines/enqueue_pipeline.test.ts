// enqueue_pipeline: a whole graph at once, or nothing of it.
import { describe, expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const stored = () =>
  askRow(
    db.admin,
    `select (select count(*)::int from holdfast.job) as jobs, (select count(*)::int from holdfast.pipeline) as pipelines,
            (select count(*)::int from holdfast.pipeline_step) as steps,
            (select count(*)::int from holdfast.dependency) as edges,
            (select count(*)::int from holdfast.waiting) as waiting, (select count(*)::int from holdfast.ready) as ready`,
  )
const NOTHING = { jobs: 0, pipelines: 0, steps: 0, edges: 0, waiting: 0, ready: 0 }

test('a graph is stored whole: what waits for none is pending, the rest waits', async () => {
  const { id, result_job } = await enqueuePipeline(
    db.pool,
    [
      { name: 'load' },
      { name: 'left', after: ['load'] },
      { name: 'right', after: ['load'] },
      { name: 'join', after: ['left', 'right', 'left'] },
    ],
    { result: 'join', input: { year: 2026 } },
  )

  const steps = stepsOf(db.pool, db.admin, id)
  expect(await steps.states()).toEqual({ load: 'pending', left: 'waiting', right: 'waiting', join: 'waiting' })
  expect(result_job).toBe(await steps.jobOf('join'))
  expect(await askRow(db.admin, 'select name, input, on_failure from holdfast.pipeline')).toEqual({
    name: 'test',
    input: { year: 2026 },
    on_failure: 'stop',
  })
  expect(await stored()).toEqual({ jobs: 4, pipelines: 1, steps: 4, edges: 4, waiting: 3, ready: 1 })
  expect(await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)).toHaveLength(1)
})

test('steps may be named before those they come after; ids follow the edges all the same', async () => {
  const { id } = await enqueuePipeline(db.pool, [
    { name: 'c', after: ['b'] },
    { name: 'b', after: ['a'] },
    { name: 'd', after: ['c', 'a'] },
    { name: 'a' },
  ])

  expect(await stepsOf(db.pool, db.admin, id).order()).toEqual(['a', 'b', 'c', 'd'])
})

test('options of a step are those of a job', async () => {
  const { id } = await enqueuePipeline(db.pool, [
    { name: 'a', queue: 'bulk', priority: 2, max_attempts: 7, key: 'k', tags: ['x'], input: { n: 1 } },
  ])

  expect(
    await askRow(
      db.admin,
      'select queue, priority, max_attempts, key, tags, input, pipeline_id, step from holdfast.jobs',
    ),
  ).toEqual({
    queue: 'bulk',
    priority: 2,
    max_attempts: 7,
    key: 'k',
    tags: ['x'],
    input: { n: 1 },
    pipeline_id: id,
    step: 'a',
  })
})

describe('a graph that cannot be is refused by its code, and nothing is stored', () => {
  const chain = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ name: `s${i}`, ...(i > 0 && { after: [`s${i - 1}`] }) }))
  const wide = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `s${i}` }))
  const all = wide(400).map(({ name }) => name)

  test.each([
    ['a circle', [{ name: 'a', after: ['b'] }, { name: 'b', after: ['a'] }, { name: 'c' }], 'JH022'],
    ['a step after itself', [{ name: 'a', after: ['a'] }], 'JH022'],
    ['a circle of 5,000', [...chain(5000).slice(1), { name: 's0', after: ['s4999'] }], 'JH022'],
    ['an unknown step', [{ name: 'a' }, { name: 'b', after: ['a', 'z'] }], 'JH023'],
    ['a doubled name', [{ name: 'a' }, { name: 'b' }, { name: 'a' }], 'JH024'],
    ['20,001 steps', wide(20_001), 'JH025'],
    [
      'more than 100,000 edges',
      [...wide(400), ...wide(251).map(({ name }) => ({ name: `t${name}`, after: all }))],
      'JH025',
    ],
    ['no steps', [], 'JH005'],
    ['a step without a name', [{ name: '' }], 'JH005'],
    ['after that is no list', [{ name: 'a', after: 'b' as never }], 'JH005'],
    ['a coalescing step', [{ name: 'a', key: 'k', key_policy: 'coalesce' }], 'JH005'],
    ['a step with an unknown option', [{ name: 'a', colour: 'red' }], 'JH005'],
    ['a compensation without a type', [{ name: 'a', compensate: {} }], 'JH005'],
  ])('%s', async (_what, steps, code) => {
    await expect(enqueuePipeline(db.pool, steps)).rejects.toMatchObject({ code })
    expect(await stored()).toEqual(NOTHING)
  })

  test('a result that is no step', async () => {
    await expect(enqueuePipeline(db.pool, [{ name: 'a' }], { result: 'z' })).rejects.toMatchObject({ code: 'JH023' })
    expect(await stored()).toEqual(NOTHING)
  })

  test.each([
    ['an unknown way to deal with failure', { on_failure: 'explode' }, 'JH005'],
    ['no name', { name: '' }, 'JH005'],
    ['an input that is too large', { input: 'x'.repeat(300_000) }, 'JH004'],
  ])('%s', async (_what, pipeline, code) => {
    await expect(enqueuePipeline(db.pool, [{ name: 'a' }], pipeline)).rejects.toMatchObject({ code })
    expect(await stored()).toEqual(NOTHING)
  })
})

test('a fan of 10,000 is within the limits, whatever order its steps are named in', async () => {
  const fan = Array.from({ length: 9_999 }, (_, i) => ({ name: `f${i}`, after: ['root'] }))
  const { id } = await enqueuePipeline(db.pool, [
    { name: 'end', after: fan.map(({ name }) => name) },
    { name: 'root' },
    ...fan,
  ])

  expect(await askValue(db.admin, 'select open from holdfast.waiting order by job_id desc limit 1')).toBe(9_999)
  expect((await stepsOf(db.pool, db.admin, id).order()).slice(0, 2)).toEqual(['root', 'f0'])
})
