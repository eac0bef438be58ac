// list_attempts: the failed and lost attempts of a job, newest first.
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('attempts come newest first, page by page, and a success is none', async () => {
  const id = await givenIn(db.pool).pendingJob()
  await givenIn(db.pool).finishedJob('failed')
  for (const message of ['one', 'two']) {
    const lease = await givenIn(db.pool).claimed(id)
    await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [
      settlement({ ...lease, error: { message }, delay_ms: 0 }),
    ])
  }
  await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(await givenIn(db.pool).claimed(id))])
  const list = (...values: unknown[]) =>
    ask(db.pool, 'select * from holdfast.list_attempts_v1($1, $2, $3)', [id, ...values])

  expect(await list(null, 100)).toMatchObject([
    { token: '2', attempt: 2, verdict: 'failed', worker: 'worker-1', error: { message: 'two' } },
    { token: '1', attempt: 1, verdict: 'failed', error: { message: 'one' } },
  ])
  expect(await list(2, 100)).toMatchObject([{ token: '1' }])
  expect(await list(null, 1)).toMatchObject([{ token: '2' }])
})
