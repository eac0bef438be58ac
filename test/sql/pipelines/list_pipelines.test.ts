// list_pipelines: page by page, newest first, with how far each is.
import { expect, test } from 'vitest'
import { ask, askValue, type Row } from '../../support/ask.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const list = (after: string | null = null, n = 50, queues: string[] | null = null): Promise<Row[]> =>
  ask(db.pool, 'select * from holdfast.list_pipelines_v1($1, $2, $3)', [after, n, queues])

/** Every page one after the other; a list that does not end fails the test by its time. */
async function walk(n: number, queues: string[] | null = null): Promise<string[]> {
  const found: string[] = []
  for (let after: string | null = null; ; ) {
    const rows = await list(after, n, queues)
    found.push(...rows.filter((row) => row.id !== null).map((row) => row.id))
    after = rows[0]?.next
    if (after === null) return found
  }
}

test.each([1, 2, 5, 200])('pages of %s have every pipeline once, the newest first', async (n) => {
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) ids.unshift((await enqueuePipeline(db.pool, [{ name: 'a' }])).id)

  expect(await walk(n)).toEqual(ids)
})

test('pipelines of one moment are neither left out nor doubled between pages', async () => {
  for (let i = 0; i < 3; i += 1) await enqueuePipeline(db.pool, [{ name: 'a' }])
  await ask(db.admin, `update holdfast.pipeline set created_at = '2026-03-01T12:00:00.123456Z'`)

  expect(new Set(await walk(1)).size).toBe(3)
})

test('each says how far it is: it runs while a job lives, then it is what its last word was', async () => {
  const steps = [{ name: 'a' }, { name: 'b', after: ['a'] }]
  const { id } = await enqueuePipeline(db.pool, steps, { result: 'b' })
  const { complete, fail } = stepsOf(db.pool, db.admin, id)

  expect(await list()).toMatchObject([{ id, state: 'running', waiting: 1, pending: 1, is_capped: false, next: null }])
  await complete('a')
  expect(await list()).toMatchObject([{ state: 'running', waiting: 0, pending: 1, completed: 1 }])
  await fail('b')
  expect(await list()).toMatchObject([{ state: 'failed', completed: 1, failed: 1 }])
})

test('of a wide pipeline the newest jobs are counted, and one that waits makes it run', async () => {
  const wide = Array.from({ length: 250 }, (_, i) => ({ name: `part ${i}` }))
  const { id } = await enqueuePipeline(db.pool, [...wide, { name: 'end', after: wide.map(({ name }) => name) }])

  expect(await list()).toMatchObject([{ id, state: 'running', waiting: 1, pending: 200, is_capped: true }])
})

test('with queues only those are there of which no job is anywhere else', async () => {
  const own = await enqueuePipeline(db.pool, [{ name: 'a', queue: 'x' }])
  await enqueuePipeline(db.pool, [
    { name: 'a', queue: 'x' },
    { name: 'b', queue: 'y', after: ['a'] },
  ])
  const both = await enqueuePipeline(db.pool, [{ name: 'a', queue: 'x' }])

  expect(await walk(1, ['x'])).toEqual([both.id, own.id])
  expect(await walk(50, ['y'])).toEqual([])
  expect((await walk(50, ['x', 'y'])).length).toBe(3)
})

test('an empty list is one row that says so', async () => {
  expect(await list()).toMatchObject([{ id: null, next: null }])
})

test.each(['nonsense', '1:2', `1:${'0'.repeat(36)}`, "1:x'; drop table holdfast.job; --"])(
  'a position of %j is refused',
  async (after) => {
    await expect(list(after)).rejects.toMatchObject({ code: 'JH005' })
  },
)

test.each([0, 201, null])('a limit of %s is refused', async (n) => {
  await expect(list(null, n as number)).rejects.toMatchObject({ code: 'JH005' })
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.pipeline')).toBe(0)
})
