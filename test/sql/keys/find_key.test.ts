// find_key: who has a key and who waits for it.
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const find = (key: string) => ask(db.pool, 'select * from holdfast.find_key_v1($1)', [key])

test('a key that runs has a holder, which is its current job, and jobs that wait', async () => {
  const { job_id } = await given().runningJob({ key: 'k' })
  await given().pendingJob({ key: 'k' })
  await given().pendingJob({ key: 'other' })

  expect(await find('k')).toMatchObject([
    { key: 'k', holder: job_id, current_job: job_id, current_since: expect.any(Date), pending: 1 },
  ])
})

test('a key at rest keeps its current job', async () => {
  const { job_id } = await given().finishedJob('completed', { key: 'k' })

  expect(await find('k')).toMatchObject([{ holder: null, current_job: job_id, pending: 0 }])
})

test('a key that has only been asked for has pending jobs alone', async () => {
  await given().pendingJob({ key: 'k' })

  expect(await find('k')).toMatchObject([{ holder: null, current_job: null, current_since: null, pending: 1 }])
})

test('a key that nobody has named is not found', async () => {
  expect(await find('k')).toEqual([])
})
