// release_jobs: a job goes back to its old place as if it had not been claimed, except for its token.
import { expect, test } from 'vitest'
import { ask, askList, askRow } from '../../support/ask.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const RELEASE = 'select * from holdfast.release_jobs($1)'

test('a released job is pending at its old run_at with its attempt given back', async () => {
  const id = await given().pendingJob({ run_at: '2020-01-01T00:00:00Z', priority: 2 })
  const lease = await given().claimed(id)

  const answer = await ask(db.pool, RELEASE, [settlement(lease)])

  expect(answer).toEqual([{ job_id: id, settled: true, code: null }])
  expect(await askRow(db.admin, 'select run_at, priority, attempts, token from holdfast.ready')).toEqual({
    run_at: new Date('2020-01-01T00:00:00Z'),
    priority: 2,
    attempts: 0,
    token: lease.token,
  })
})

test('a released job is claimed again before those that came after it', async () => {
  const first = await given().runningJob()
  const second = await given().pendingJob()

  await ask(db.pool, RELEASE, [settlement(first)])

  const claimed = await askList(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 2)`)
  expect(claimed).toEqual([first.job_id, second])
})

test('a second release by the same lease is refused', async () => {
  const lease = await given().runningJob()
  await ask(db.pool, RELEASE, [settlement(lease)])

  expect(await ask(db.pool, RELEASE, [settlement(lease)])).toEqual([
    { job_id: lease.job_id, settled: false, code: 'LEASE_LOST' },
  ])
})

test('a stale worker cannot release a job that was released and claimed again', async () => {
  const stale = await given().runningJob()
  await ask(db.pool, RELEASE, [settlement(stale)])
  const fresh = await given().claimed(stale.job_id, 'worker-2')

  await ask(db.pool, RELEASE, [settlement(stale)])

  expect(await askList(db.admin, 'select lease_id from holdfast.lease')).toEqual([fresh.lease_id])
})

test('what is no array of objects is refused by its code', async () => {
  await expect(ask(db.pool, RELEASE, [null])).rejects.toMatchObject({ code: 'JH005' })
})
