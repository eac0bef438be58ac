// key_history: the started jobs of a key, newest first.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const history = (key: string, n?: number) =>
  askList(db.pool, 'select id from holdfast.key_history($1, $2)', [key, n ?? 20])

test('started jobs come newest first, and the first is the current one', async () => {
  const first = await given().finishedJob('completed', { key: 'k' })
  const second = await given().finishedJob('failed', { key: 'k' })
  const third = await given().runningJob({ key: 'k' })

  expect(await history('k')).toEqual([third.job_id, second.job_id, first.job_id])
  expect(await askList(db.pool, `select is_current from holdfast.key_history('k')`)).toEqual([true, false, false])
})

test('jobs that never started and jobs of other keys are not in it', async () => {
  await given().pendingJob({ key: 'k' })
  await given().runningJob({ key: 'other' })
  await ask(db.pool, 'select holdfast.cancel_job($1)', [await given().pendingJob({ key: 'k' })])

  expect(await history('k')).toEqual([])
})

test('an old job that is run again moves to the front', async () => {
  const old = await given().finishedJob('completed', { key: 'k' })
  const newer = await given().finishedJob('completed', { key: 'k' })
  await ask(db.pool, 'select holdfast.retry_job($1)', [old.job_id])
  await given().claimed(old.job_id)

  expect(await history('k')).toEqual([old.job_id, newer.job_id])
})

test.each([
  [2, 2],
  [0, 1],
  [-5, 1],
  [99_999, 3],
])('n of %s gives %s of three', async (n, length) => {
  for (let i = 0; i < 3; i += 1) await given().finishedJob('completed', { key: 'k' })

  expect(await history('k', n)).toHaveLength(length)
})
