// Keys of policy supersede: the newest job wins, whatever waits or runs before it is over.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { refuseToWait } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const KEY = { key: 'k', key_policy: 'supersede' }
const given = () => givenIn(db.pool)
const claim = (session: Session = db.pool) =>
  ask<Lease>(session, `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)
const stateOf = (id: string) => askValue<string>(db.admin, 'select holdfast.state_of($1)', [id])

describe('pending jobs', () => {
  test('only the newest runs and the older ones are superseded', async () => {
    const [oldest, older, newest] = [
      await given().pendingJob(KEY),
      await given().pendingJob(KEY),
      await given().pendingJob(KEY),
    ]

    expect(await claim()).toMatchObject([{ job_id: newest }])
    expect([await stateOf(oldest), await stateOf(older)]).toEqual(['superseded', 'superseded'])
  })

  test('what is superseded while it waits says so in its error and has used no attempt', async () => {
    const older = await given().pendingJob(KEY)
    await given().pendingJob(KEY)
    await claim()

    expect(
      await askRow(db.admin, 'select error, attempts, lease_id from holdfast.outcome where job_id = $1', [older]),
    ).toEqual({
      error: { name: 'Superseded', message: expect.any(String) },
      attempts: 0,
      lease_id: null,
    })
  })

  test('a newer job that is not due does not supersede one that is', async () => {
    const due = await given().pendingJob(KEY)
    const future = await given().pendingJob({ ...KEY, delay: '1h' })

    expect(await claim()).toMatchObject([{ job_id: due }])
    expect(await stateOf(future)).toBe('pending')
  })

  test('a newest job whose type nobody here serves keeps the older ones pending', async () => {
    const older = await given().pendingJob(KEY)
    await given().pendingJob({ ...KEY, type: 'foreign' })

    expect(await claim()).toEqual([])
    expect(await stateOf(older)).toBe('pending')
  })

  test('other keys are not touched', async () => {
    const other = await given().pendingJob({ ...KEY, key: 'other' })
    const mine = await given().pendingJob(KEY)

    expect((await claim()).map(({ job_id }) => job_id).sort()).toEqual([other, mine].sort())
  })
})

describe('the running holder', () => {
  test('is superseded by the claim of a newer job, and its token is passed', async () => {
    const holder = await given().runningJob(KEY)
    const newer = await given().pendingJob(KEY)

    const [lease] = await claim()

    expect(lease?.job_id).toBe(newer)
    expect(Number(lease?.token)).toBeGreaterThan(Number(holder.token))
    expect(
      await askRow(db.admin, 'select state, error from holdfast.outcome where job_id = $1', [holder.job_id]),
    ).toEqual({
      state: 'superseded',
      error: { name: 'Superseded', message: `job ${newer} is newer` },
    })
  })

  test.each(['complete_jobs', 'fail_jobs', 'snooze_jobs', 'release_jobs', 'cancel_jobs', 'renew_leases'])(
    'has its %s refused once it is superseded',
    async (operation) => {
      const holder = await given().runningJob(KEY)
      await given().runningJob(KEY)

      const [answer] = await ask(db.pool, `select code from holdfast.${operation}($1)`, [settlement(holder)])

      expect(answer).toEqual({ code: 'LEASE_LOST' })
      expect(await stateOf(holder.job_id)).toBe('superseded')
    },
  )

  test('stays while it asserts its lease, and the newer job waits without being parked', async () => {
    const holder = await given().runningJob(KEY)
    const newer = await given().pendingJob(KEY)
    const [busy, claimer] = [await db.connect(), await db.connect()]
    await refuseToWait(claimer)
    await busy.query('begin')
    await ask(busy, 'select holdfast.assert_lease($1, $2, $3)', [holder.job_id, holder.token, holder.lease_id])

    expect(await claim(claimer)).toEqual([])
    await busy.query('commit')

    expect(await claim(claimer)).toMatchObject([{ job_id: newer }])
  })

  test('stays when its lease alone is locked by an open transaction', async () => {
    const holder = await given().runningJob(KEY)
    await given().pendingJob(KEY)
    const [busy, claimer] = [await db.connect(), await db.connect()]
    await refuseToWait(claimer)
    await busy.query('begin')
    await ask(busy, 'select holdfast.report_progress($1, $2, $3, 0.5)', [holder.job_id, holder.token, holder.lease_id])

    expect(await claim(claimer)).toEqual([])
    await busy.query('commit')
    expect(await stateOf(holder.job_id)).toBe('running')
  })
})

describe('coming back', () => {
  test('a failed attempt of the newest is retried', async () => {
    const lease = await given().runningJob(KEY)
    await ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...lease, delay_ms: 0 })])

    expect(await claim()).toMatchObject([{ job_id: lease.job_id }])
  })

  test('a failed attempt that a newer job has overtaken is superseded instead of retried', async () => {
    const lease = await given().runningJob(KEY)
    await ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...lease, delay_ms: 0 })])
    const newer = await given().pendingJob(KEY)

    expect(await claim()).toMatchObject([{ job_id: newer }])
    expect(await stateOf(lease.job_id)).toBe('superseded')
  })

  test('an older job that becomes due after a newer one has started is superseded', async () => {
    const older = await given().pendingJob({ ...KEY, delay: '1h' })
    const newer = await given().runningJob(KEY)
    await ask(db.admin, `update holdfast.ready set run_at = '2020-01-01' where job_id = $1`, [older])

    expect(await claim()).toEqual([])
    expect([await stateOf(older), await stateOf(newer.job_id)]).toEqual(['superseded', 'running'])
  })

  test('an old job that an operator retries is the newest of its key', async () => {
    const old = await given().runningJob(KEY)
    const newer = await given().runningJob(KEY)
    expect(await stateOf(old.job_id)).toBe('superseded')

    await ask(db.pool, 'select holdfast.retry_job($1)', [old.job_id])

    expect(await claim()).toMatchObject([{ job_id: old.job_id }])
    expect(await stateOf(newer.job_id)).toBe('superseded')
  })
})

test('a pending row that another transaction has locked is left for the next claim', async () => {
  const locked = await given().pendingJob(KEY)
  const newest = await given().pendingJob(KEY)
  const [other, claimer] = [await db.connect('admin'), await db.connect()]
  await refuseToWait(claimer)
  await other.query('begin')
  await other.query('select from holdfast.ready where job_id = $1 for update', [locked])

  expect(await claim(claimer)).toMatchObject([{ job_id: newest }])
  expect(await stateOf(locked)).toBe('pending')
  await other.query('rollback')

  expect(await claim(claimer)).toEqual([])
  expect(await stateOf(locked)).toBe('superseded')
})

test('a backlog beyond what one claim ends goes with later claims', async () => {
  await ask(
    db.pool,
    `select holdfast.enqueue_jobs((select jsonb_agg('{"type": "task"}'::jsonb) from generate_series(1, 1500)), $1)`,
    [JSON.stringify(KEY)],
  )

  const claimed = [...(await claim()), ...(await claim()), ...(await claim())]

  expect(claimed).toHaveLength(1)
  expect(await askList(db.admin, `select count(*)::int from holdfast.outcome where state = 'superseded'`)).toEqual([
    1499,
  ])
})
