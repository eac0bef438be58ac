// release_claims: what a claim took whose answer never came goes back, as if it had not been claimed.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const release = (worker: string, ...leaseIds: string[]) =>
  askValue<string[]>(db.pool, 'select holdfast.release_claims_v1($1, $2)', [worker, leaseIds])

async function claim(n: number, leaseId: string = randomUUID(), session: Parameters<typeof ask>[0] = db.pool) {
  await ask(session, `select holdfast.claim_batch_v1('w', 'default', '{task}', $1, p_lease_id => $2)`, [n, leaseId])
  return leaseId
}

test('all jobs of the claim are pending at their old place, with their attempt given back', async () => {
  const ids = [await given().pendingJob({ run_at: '2020-01-01T00:00:00Z', priority: 2 }), await given().pendingJob()]
  const leaseId = await claim(10)

  expect(await release('w', leaseId)).toEqual([leaseId])

  expect(await ask(db.admin, 'select job_id, attempts, token, priority from holdfast.ready order by priority')).toEqual(
    [
      { job_id: ids[0], attempts: 0, token: '1', priority: 2 },
      { job_id: ids[1], attempts: 0, token: '1', priority: 5 },
    ],
  )
  expect(await ask(db.admin, 'select from holdfast.attempt')).toEqual([])
  const again = `select id from holdfast.claim_jobs('w', '{default}', '{task}', 2)`
  expect(await askList(db.pool, again)).toEqual(ids)
})

test('jobs of other claims and of other workers stay', async () => {
  const own = await given().runningJob()
  const others = await given().runningJob()

  expect(await release('worker-1', own.lease_id)).toEqual([own.lease_id])
  expect(await release('somebody', others.lease_id)).toEqual([])

  expect(await askList(db.admin, 'select job_id from holdfast.lease')).toEqual([others.job_id])
})

test('nothing is found under an id that claimed nothing, or a second time', async () => {
  await given().pendingJob()
  const leaseId = await claim(1)

  expect(await release('w', randomUUID())).toEqual([])
  expect(await release('w', randomUUID(), leaseId)).toEqual([leaseId])
  expect(await release('w', leaseId)).toEqual([])
  expect(await release('w')).toEqual([])
})

test('a key is free again, and the parked jobs behind it are offered', async () => {
  const ids = [await given().pendingJob({ key: 'k' }), await given().pendingJob({ key: 'k' })]
  const leaseId = await claim(10)
  expect(await askList(db.admin, 'select job_id from holdfast.ready where parked')).toEqual([ids[1]])

  await release('w', leaseId)

  expect(await askRow(db.admin, 'select holder from holdfast.job_key')).toEqual({ holder: null })
  expect(await askList(db.admin, 'select job_id from holdfast.ready where parked')).toEqual([])
  expect(await askList(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 2)`)).toEqual([ids[0]])
})

test('a quarantined job stays quarantined: a claim without an answer is no crash', async () => {
  const id = await given().pendingJob()
  await ask(db.admin, 'update holdfast.ready set crashes = 2')
  const leaseId = randomUUID()
  const quarantined = await askValue(
    db.pool,
    `select holdfast.claim_quarantined_v1('w', '{default}', '{task}', $1) ->> 'lease_id'`,
    [leaseId],
  )
  expect(quarantined).toBe(leaseId)

  await release('w', leaseId)

  expect(await askRow(db.admin, 'select job_id, crashes, attempts from holdfast.ready')).toEqual({
    job_id: id,
    crashes: 2,
    attempts: 0,
  })
})

test('jobs that were claimed as they were enqueued go back too', async () => {
  const leaseId = randomUUID()
  await ask(db.pool, `select holdfast.enqueue_and_claim_v1('[1, 2]', '{"type": "task"}', 'w', 'default', $1)`, [
    leaseId,
  ])

  expect(await release('w', leaseId)).toEqual([leaseId])

  expect(await askList(db.admin, 'select attempts from holdfast.ready')).toEqual([0, 0])
})

test('a settlement under the lease of a released claim is refused', async () => {
  const lease: Lease = { job_id: await given().pendingJob(), token: '1', lease_id: await claim(1) }
  await release('w', lease.lease_id)

  expect(await askValue(db.pool, 'select code from holdfast.complete_jobs($1)', [settlement(lease)])).toBe('LEASE_LOST')
})

test('a claim that commits after the look is found by the next one', async () => {
  await given().pendingJob()
  const [claimer, leaseId] = [await db.connect(), randomUUID()]
  await claimer.query('begin')
  await claim(1, leaseId, claimer)

  expect(await release('w', leaseId)).toEqual([])
  await claimer.query('commit')
  expect(await release('w', leaseId)).toEqual([leaseId])
})

test('a job that is cancelled while it is given back stays cancelled', async () => {
  const id = await given().pendingJob({ key: 'k' })
  const leaseId = await claim(1)
  const [operator, worker] = [await db.connect('admin'), await db.connect()]
  const pid = await pidOf(worker)
  await operator.query('begin')
  await ask(operator, 'select holdfast.cancel_job($1)', [id])

  const released = askValue(worker, 'select holdfast.release_claims_v1($1, $2)', ['w', [leaseId]])
  await waitUntilBlocked(db.admin, pid)
  await operator.query('commit')
  await released

  expect(await askValue(db.admin, 'select state from holdfast.jobs')).toBe('cancelled')
})
