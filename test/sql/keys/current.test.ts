// current: the latest started job of a key, while it runs and after.
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const current = (key: string) => askList(db.pool, 'select id from holdfast.current($1)', [key])
const flagged = () => askList(db.pool, 'select id from holdfast.jobs where is_current')

test('a key whose jobs have not started has no current job', async () => {
  await given().pendingJob({ key: 'k' })

  expect(await current('k')).toEqual([])
  expect(await flagged()).toEqual([])
})

test('the running job is current, and stays it when it has finished', async () => {
  const { job_id } = await given().finishedJob('completed', { key: 'k' })
  await given().pendingJob({ key: 'k' })

  expect(await current('k')).toEqual([job_id])
  expect(await flagged()).toEqual([job_id])
})

test('the next job that starts takes its place', async () => {
  await given().finishedJob('completed', { key: 'k' })
  const next = await given().runningJob({ key: 'k' })

  expect(await current('k')).toEqual([next.job_id])
  expect(await flagged()).toEqual([next.job_id])
})

test('an old job that is retried and started is current again', async () => {
  const old = await given().finishedJob('completed', { key: 'k' })
  await given().finishedJob('completed', { key: 'k' })
  await ask(db.pool, 'select holdfast.retry_job($1)', [old.job_id])
  await given().claimed(old.job_id)

  expect(await current('k')).toEqual([old.job_id])
})

test('a job that waits for its retry is still the current one', async () => {
  const lease = await given().runningJob({ key: 'k' })
  await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [settlement(lease)])

  expect(await askValue(db.pool, `select state from holdfast.current('k')`)).toBe('pending')
})

test('an unknown key has no current job', async () => {
  expect(await current('unknown')).toEqual([])
})
