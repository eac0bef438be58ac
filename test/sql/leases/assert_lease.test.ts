// assert_lease: a lease that is asserted cannot be lost before the caller's transaction ends.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const ASSERT = 'select holdfast.assert_lease($1, $2, $3)'

test('the holder passes and still holds the job', async () => {
  const lease = await given().runningJob()

  await ask(db.pool, ASSERT, [lease.job_id, lease.token, lease.lease_id])

  expect(await askValue(db.admin, 'select holdfast.state_of($1)', [lease.job_id])).toBe('running')
})

test.each([
  { what: 'an old token', change: { token: '0' } },
  { what: 'another lease id', change: { lease_id: randomUUID() } },
  { what: 'no lease id', change: { lease_id: null } },
  { what: 'an unknown job', change: { job_id: '999999999' } },
])('$what aborts the transaction of the caller', async ({ change }) => {
  const lease = { ...(await given().runningJob()), ...change }
  const caller = await db.connect()
  await caller.query('begin')

  const assertion = ask(caller, ASSERT, [lease.job_id, lease.token, lease.lease_id])

  await expect(assertion).rejects.toMatchObject({ code: 'JH001' })
  expect((await caller.query('commit')).command).toBe('ROLLBACK')
})

test('the refusal says which job and which token in its details', async () => {
  const lease = await given().finishedJob('completed')

  const assertion = ask(db.pool, ASSERT, [lease.job_id, lease.token, lease.lease_id])
  const detail = await assertion.catch((error) => JSON.parse(error.detail))

  expect(detail).toEqual({ code: 'LEASE_LOST', job_id: Number(lease.job_id), token: Number(lease.token) })
})

test.each([
  ['without a key', {}],
  ['of a key', { key: 'k' }],
])('a cancel of a job %s waits until the asserting transaction ends', async (_kind, wish) => {
  const lease = await given().runningJob(wish)
  const [holder, operator] = [await db.connect(), await db.connect()]
  const pid = await pidOf(operator)
  await holder.query('begin')
  await ask(holder, ASSERT, [lease.job_id, lease.token, lease.lease_id])

  const cancel = askValue(operator, 'select holdfast.cancel_job($1)', [lease.job_id])
  await waitUntilBlocked(db.admin, pid)
  await holder.query('commit')

  expect(await cancel).toBe('running')
})

test('a newer job of a supersede key does not take over while the lease is asserted, and does not wait', async () => {
  const lease = await given().runningJob({ key: 'k', key_policy: 'supersede' })
  const newer = await given().pendingJob({ key: 'k', key_policy: 'supersede' })
  const holder = await db.connect()
  await holder.query('begin')
  await ask(holder, ASSERT, [lease.job_id, lease.token, lease.lease_id])

  expect(await askValue(db.pool, 'select holdfast.claim_job($1, $2)', [newer, 'w'])).toBe(false)
  await holder.query('commit')

  expect(await askValue(db.pool, 'select holdfast.claim_job($1, $2)', [newer, 'w'])).toBe(true)
})
