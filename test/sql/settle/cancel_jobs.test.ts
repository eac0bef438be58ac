// cancel_jobs: a handler ends its own job as cancelled.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const CANCEL = 'select * from holdfast.cancel_jobs($1)'

test('a job cancelled by its handler keeps the reason', async () => {
  const lease = await given().runningJob()

  const answer = await ask(db.pool, CANCEL, [settlement({ ...lease, reason: 'nothing to do' })])

  expect(answer).toEqual([{ job_id: lease.job_id, settled: true, code: null }])
  expect(await askRow(db.admin, 'select state, error, attempts from holdfast.outcome')).toEqual({
    state: 'cancelled',
    error: { name: 'Cancelled', message: 'nothing to do' },
    attempts: 1,
  })
})

test('without a reason there is still a message', async () => {
  await ask(db.pool, CANCEL, [settlement(await given().runningJob())])

  expect(await askValue(db.admin, `select error ->> 'message' from holdfast.outcome`)).toBe('cancelled by its handler')
})

test('a reason of a megabyte is shortened', async () => {
  await ask(db.pool, CANCEL, [settlement({ ...(await given().runningJob()), reason: 'x'.repeat(1_000_000) })])

  expect(await askValue(db.admin, `select length(error ->> 'message') from holdfast.outcome`)).toBe(1000)
})

test('a stale lease is refused and its neighbour settled with its own reason', async () => {
  const [stale, fresh] = [await given().runningJob(), await given().runningJob({ key: 'k' })]

  const answer = await ask(db.pool, CANCEL, [
    settlement({ ...stale, token: '9', reason: 'stale' }, { ...fresh, reason: 'mine' }),
  ])

  expect(answer).toEqual([
    { job_id: stale.job_id, settled: false, code: 'LEASE_LOST' },
    { job_id: fresh.job_id, settled: true, code: null },
  ])
  expect(await askValue(db.admin, `select error ->> 'message' from holdfast.outcome`)).toBe('mine')
})

test('what is no array of objects is refused by its code', async () => {
  await expect(ask(db.pool, CANCEL, ['3'])).rejects.toMatchObject({ code: 'JH005' })
})
