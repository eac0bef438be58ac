// Which workers are dead, where their jobs go, and that reaping neither waits nor counts against other jobs.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString()

test('a lease that is over is taken: the job is pending again, its attempt counted and written down', async () => {
  const lease = await givenIn(db.pool).runningJob()

  expect(await reapAt(IN_AN_HOUR)).toEqual([{ job_id: lease.job_id, state: 'pending' }])
  expect(await stateAndAttempts(lease)).toEqual({ state: 'pending', attempts: 1, crashes: 0 })
  const attempt = await askRow(db.admin, 'select token, verdict, lease_id, error from holdfast.attempt')
  expect(attempt).toMatchObject({ token: lease.token, verdict: 'lost', lease_id: lease.lease_id })
  expect(attempt.error.name).toBe('LeaseLost')
})

test('a lease that is not over stays, whichever role reaps', async () => {
  const lease = await givenIn(db.pool).runningJob()

  expect(await ask(db.pool, 'select * from holdfast.reap_leases()')).toEqual([])
  expect((await stateAndAttempts(lease)).state).toBe('running')
})

test('the last attempt that is lost fails the job for good', async () => {
  const lease = await givenIn(db.pool).runningJob({ max_attempts: 1 })

  expect(await reapAt(IN_AN_HOUR)).toEqual([{ job_id: lease.job_id, state: 'failed' }])
})

test('the former holder cannot complete, fail or renew after the reap', async () => {
  const lease = await givenIn(db.pool).runningJob()
  await reapAt(IN_AN_HOUR)

  for (const operation of ['complete_jobs', 'fail_jobs', 'renew_leases', 'release_jobs', 'snooze_jobs']) {
    expect(await ask(db.pool, `select code from holdfast.${operation}($1)`, [settlement(lease)])).toEqual([
      { code: 'LEASE_LOST' },
    ])
  }
})

test('a silent worker whose lock is free is dead: its jobs go on at once, and its row is gone', async () => {
  const lease = await runningAt('worker-1')
  await silence('worker-1', { hasLock: true })

  expect(await ask(db.pool, 'select * from holdfast.reap_leases()')).toEqual([
    { job_id: lease.job_id, state: 'pending' },
  ])
  expect(await ask(db.admin, 'select id from holdfast.worker')).toEqual([])
  const error = await askValue<Record<string, unknown>>(db.admin, 'select error from holdfast.attempt')
  expect(error).toMatchObject({ name: 'WorkerDied', worker: 'worker-1', rss_bytes: 4096 })
})

test('a silent worker whose session still has its lock keeps its jobs', async () => {
  const lease = await runningAt('worker-1')
  const session = await db.connect()
  expect(await askValue(session, `select holdfast.take_worker_lock_v1('worker-1')`)).toBe(true)
  await silence('worker-1', { hasLock: true })

  expect(await ask(db.pool, 'select * from holdfast.reap_leases()')).toEqual([])
  expect((await stateAndAttempts(lease)).state).toBe('running')

  await session.end()
  await lockFree('worker-1')
  expect(await ask(db.pool, 'select job_id from holdfast.reap_leases()')).toEqual([{ job_id: lease.job_id }])
})

test('without a lock the heartbeat alone tells, after five times the grace', async () => {
  await runningAt('worker-1')
  await silence('worker-1', { hasLock: false, seconds: 9 })
  expect(await ask(db.pool, 'select * from holdfast.reap_leases()')).toEqual([])

  await silence('worker-1', { hasLock: false, seconds: 11 })
  expect(await ask(db.pool, 'select * from holdfast.reap_leases()')).toHaveLength(1)
})

test('a worker that heartbeats keeps its jobs', async () => {
  await runningAt('worker-1')
  await ask(db.pool, `select holdfast.record_heartbeat_v1('worker-1')`)

  expect(await ask(db.pool, 'select * from holdfast.reap_leases()')).toEqual([])
})

test('a job is marked at each death, runs alone from the second on, and fails at the third', async () => {
  const id = await givenIn(db.pool).pendingJob({ max_attempts: 10 })

  for (const [death, state] of [
    [1, 'pending'],
    [2, 'pending'],
    [3, 'failed'],
  ] as const) {
    await diesWith(id, `worker-${death}`)
    expect(await askValue(db.admin, 'select holdfast.state_of($1)', [id])).toBe(state)
    if (death === 2) {
      expect(await ask(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)).toEqual([])
    }
  }
  const error = await askValue<Record<string, unknown>>(db.admin, 'select error from holdfast.jobs where id = $1', [id])
  expect(error).toMatchObject({ name: 'WorkerDied', worker: 'worker-3' })
  expect(error.message).toContain('death 3 of at most 3')
})

test('the last lines that a job logged are kept with its loss', async () => {
  const lease = await runningAt('worker-1')
  const line = { job_id: lease.job_id, token: lease.token, at: new Date(), level: 'info', message: 'row 17' }
  await ask(db.pool, 'select holdfast.append_logs_v1($1)', [JSON.stringify([line])])
  await silence('worker-1', { hasLock: true })
  await ask(db.pool, 'select * from holdfast.reap_leases()')

  expect(await askValue(db.admin, `select error -> 'last_logs' from holdfast.attempt`)).toEqual(['row 17'])
})

test('reaping frees the key and offers its next job', async () => {
  const holder = await givenIn(db.pool).runningJob({ key: 'k' })
  const next = await givenIn(db.pool).pendingJob({ key: 'k', max_attempts: 1 })
  await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)
  expect(await askValue(db.admin, 'select parked from holdfast.jobs where id = $1', [next])).toBe(true)

  await reapAt(IN_AN_HOUR)

  expect(await askValue(db.admin, 'select parked from holdfast.jobs where id = $1', [next])).toBe(false)
  expect((await stateAndAttempts(holder)).state).toBe('pending')
})

test('a lease or a key that another transaction has locked is left for later, without waiting', async () => {
  const unkeyed = await givenIn(db.pool).runningJob()
  const keyed = await givenIn(db.pool).runningJob({ key: 'k' })
  const other = await db.connect('admin')
  await ask(other, 'begin')
  await ask(other, 'select from holdfast.lease where job_id = $1 for update', [unkeyed.job_id])
  await ask(other, `select from holdfast.job_key where key = 'k' for update`)

  expect(await reapAt(IN_AN_HOUR)).toEqual([])
  await ask(other, 'rollback')
  expect((await reapAt(IN_AN_HOUR)).map((row) => row.job_id).sort()).toEqual([unkeyed.job_id, keyed.job_id].sort())
})

test('a round takes no more than it is told', async () => {
  for (let i = 0; i < 5; i += 1) await givenIn(db.pool).runningJob()

  const session = await db.connect()
  await setClock(session, IN_AN_HOUR)
  expect(await ask(session, 'select * from holdfast.reap_leases(2)')).toHaveLength(2)
  expect(await ask(session, 'select * from holdfast.reap_leases(10)')).toHaveLength(3)
})

async function reapAt(iso: string) {
  const session = await db.connect()
  await setClock(session, iso)
  return ask(session, 'select * from holdfast.reap_leases()')
}

async function register(worker: string): Promise<void> {
  await ask(db.pool, `select holdfast.register_worker_v1($1, 'pod', 1, '0', '{default}', '{task}', 1)`, [worker])
}

async function runningAt(worker: string): Promise<Lease> {
  await register(worker)
  return givenIn(db.pool).claimed(await givenIn(db.pool).pendingJob(), worker)
}

/** Its last heartbeat lies back, as if its process had ended. */
async function silence(worker: string, { hasLock, seconds = 60 }: { hasLock: boolean; seconds?: number }) {
  await ask(
    db.admin,
    `update holdfast.worker set heartbeat_at = clock_timestamp() - make_interval(secs => $2), has_lock = $3, rss_bytes = 4096
      where id = $1`,
    [worker, seconds, hasLock],
  )
}

async function diesWith(id: string, worker: string): Promise<void> {
  await register(worker)
  await givenIn(db.pool).claimed(id, worker)
  await silence(worker, { hasLock: true })
  await ask(db.pool, 'select * from holdfast.reap_leases()')
}

/** A session that has ended gives its locks up a moment later. */
async function lockFree(worker: string): Promise<void> {
  const isFree = () =>
    askValue<boolean>(db.admin, 'select pg_try_advisory_xact_lock(holdfast.worker_lock_id($1))', [worker])
  while (!(await isFree()));
}

async function stateAndAttempts({ job_id }: Lease) {
  return askRow(
    db.admin,
    `select j.state, j.attempts, coalesce(r.crashes, l.crashes) as crashes
       from holdfast.jobs as j left join holdfast.ready as r on r.job_id = j.id left join holdfast.lease as l on l.job_id = j.id
      where j.id = $1`,
    [job_id],
  )
}
