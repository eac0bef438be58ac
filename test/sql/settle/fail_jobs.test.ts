// fail_jobs: another attempt while some are left, otherwise failed; each failure is kept.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const FAIL = 'select * from holdfast.fail_jobs($1)'
const fail = (...members: object[]) => ask(db.pool, FAIL, [settlement(...members)])
const stateOf = (id: string) => askValue<string>(db.admin, 'select holdfast.state_of($1)', [id])
const settled = (lease: Lease) => ({ job_id: lease.job_id, settled: true, code: null })
const lost = (lease: Lease) => ({ job_id: lease.job_id, settled: false, code: 'LEASE_LOST' })

describe('with attempts left', () => {
  test('the job is pending again with its attempt counted and its token kept', async () => {
    const lease = await given().runningJob()

    expect(await fail({ ...lease, error: { name: 'Error', message: 'no' } })).toEqual([settled(lease)])

    expect(await askRow(db.admin, 'select attempts, token, parked from holdfast.ready')).toEqual({
      attempts: 1,
      token: lease.token,
      parked: false,
    })
  })

  test('delay_ms says when the next attempt is due', async () => {
    const client = await db.connect()
    await setClock(client, '2030-01-01T00:00:00Z')
    const lease = await givenIn(client).runningJob()

    await ask(client, FAIL, [settlement({ ...lease, delay_ms: 90_000 })])

    expect(await askValue(db.admin, 'select run_at from holdfast.ready')).toEqual(new Date('2030-01-01T00:01:30Z'))
  })

  test.each([
    { attempts: 1, from: 4_000, to: 8_000 },
    { attempts: 2, from: 8_000, to: 16_000 },
    { attempts: 3, from: 10_000, to: 20_000 },
    { attempts: 9, from: 10_000, to: 20_000 },
  ])(
    'after attempt $attempts the backoff of the type lies between $from and $to ms',
    async ({ attempts, from, to }) => {
      const client = await db.connect()
      await setClock(client, '2030-01-01T00:00:00Z')
      await ask(
        client,
        `select holdfast.put_job_types_v1('[{"type": "slow", "queue": "default", "priority": 5, "max_attempts": 20,
        "lease_seconds": 30, "backoff_base_ms": 8000, "backoff_max_ms": 20000}]')`,
      )
      const id = await givenIn(client).pendingJob({ type: 'slow' })
      await ask(db.admin, 'update holdfast.ready set attempts = $1', [attempts - 1])
      const lease = await givenIn(client).claimed(id)

      await ask(client, FAIL, [settlement(lease)])

      const waits = await askValue<number>(
        db.admin,
        `select (extract(epoch from run_at - '2030-01-01T00:00:00Z') * 1000)::int from holdfast.ready`,
      )
      expect(waits).toBeGreaterThanOrEqual(from)
      expect(waits).toBeLessThanOrEqual(to)
    },
  )

  test('jobs that fail together come back spread out', async () => {
    const client = await db.connect()
    await setClock(client, '2030-01-01T00:00:00Z')
    const leases: Lease[] = []
    for (let i = 0; i < 8; i += 1) leases.push(await givenIn(client).runningJob())

    await ask(client, FAIL, [settlement(...leases)])

    expect(await askValue(db.admin, 'select count(distinct run_at)::int from holdfast.ready')).toBeGreaterThan(1)
  })
})

describe('without attempts left', () => {
  test('the last attempt of a job makes it failed with its error', async () => {
    const lease = await given().runningJob({ max_attempts: 1 })

    await fail({ ...lease, error: { name: 'TypeError', message: 'bad' } })

    expect(await askRow(db.admin, 'select state, error, attempts from holdfast.outcome')).toEqual({
      state: 'failed',
      error: { name: 'TypeError', message: 'bad' },
      attempts: 1,
    })
  })

  test('a permanent failure ends the job at once', async () => {
    const lease = await given().runningJob({ max_attempts: 10 })

    await fail({ ...lease, permanent: true, delay_ms: 5 })

    expect(await stateOf(lease.job_id)).toBe('failed')
  })

  test('no more than max_attempts claims are ever possible', async () => {
    const id = await given().pendingJob({ max_attempts: 3 })

    for (let i = 0; i < 3; i += 1) await fail({ ...(await given().claimed(id)), delay_ms: 0 })

    expect(await stateOf(id)).toBe('failed')
    expect(await askList(db.admin, 'select attempt from holdfast.attempt order by token')).toEqual([1, 2, 3])
  })
})

describe('what is kept', () => {
  test('each failure makes a row in attempt', async () => {
    const lease = await given().runningJob()

    await fail({ ...lease, error: { message: 'no' } })

    expect(
      await askRow(db.admin, 'select job_id, token, attempt, verdict, lease_id, worker, error from holdfast.attempt'),
    ).toEqual({
      job_id: lease.job_id,
      token: lease.token,
      attempt: 1,
      verdict: 'failed',
      lease_id: lease.lease_id,
      worker: 'worker-1',
      error: { message: 'no' },
    })
  })

  test('an error of a megabyte is shortened to its name, its code and the start of its message', async () => {
    const lease = await given().runningJob({ max_attempts: 1 })

    await fail({ ...lease, error: { name: 'Big', code: 'E1', message: 'x'.repeat(1_000_000), stack: 'y'.repeat(9) } })

    const error = await askValue<Record<string, string>>(db.admin, 'select error from holdfast.outcome')
    expect(error).toEqual({ name: 'Big', code: 'E1', message: 'x'.repeat(8000), truncated: true })
  })

  test.each([
    ['a text', 'just text', { name: 'Error', message: 'just text' }],
    ['nothing', undefined, { name: 'Error', message: 'no error was given' }],
    ['null', null, { name: 'Error', message: 'no error was given' }],
    ['a list', [1, 2], { name: 'Error', message: '[1, 2]' }],
    ['a text of a megabyte', 'z'.repeat(1_000_000), { name: 'Error', message: 'z'.repeat(8000) }],
  ])('%s as error is kept as an object', async (_kind, error, kept) => {
    await fail({ ...(await given().runningJob()), error })

    expect(await askValue(db.admin, 'select error from holdfast.attempt')).toEqual(kept)
  })
})

describe('the guard', () => {
  test('a stale member is refused and its neighbours are settled', async () => {
    const [stale, fresh] = [await given().runningJob(), await given().runningJob({ key: 'k' })]

    expect(await fail({ ...stale, lease_id: randomUUID() }, fresh)).toEqual([lost(stale), settled(fresh)])
    expect(await stateOf(stale.job_id)).toBe('running')
  })

  test('repeating a failure that this lease has reported is true and counts once', async () => {
    const lease = await given().runningJob()
    await fail({ ...lease, delay_ms: 0 })

    expect(await fail(lease)).toEqual([settled(lease)])
    expect(await askList(db.admin, 'select attempts from holdfast.ready')).toEqual([1])
    expect(await askList(db.admin, 'select attempt from holdfast.attempt')).toEqual([1])
  })

  test('a repeated failure does not touch the next attempt that already runs', async () => {
    const stale = await given().runningJob()
    await fail({ ...stale, delay_ms: 0 })
    const fresh = await given().claimed(stale.job_id)

    expect(await fail({ ...stale, permanent: true })).toEqual([settled(stale)])
    expect(await askValue(db.admin, 'select lease_id from holdfast.lease')).toBe(fresh.lease_id)
  })

  test('of two members for one job only the one with the lease counts', async () => {
    const lease = await given().runningJob({ max_attempts: 1 })
    const stale = { ...lease, token: '77', error: { message: 'stale' } }

    expect(await fail(stale, { ...lease, error: { message: 'right' } })).toEqual([lost(lease), settled(lease)])
    expect(await askValue(db.admin, 'select error from holdfast.outcome')).toEqual({ message: 'right' })
  })

  test('a completed job cannot be failed', async () => {
    const lease = await given().finishedJob('completed')

    expect(await fail(lease)).toEqual([lost(lease)])
    expect(await stateOf(lease.job_id)).toBe('completed')
  })

  test('what is no array of objects is refused by its code', async () => {
    await expect(ask(db.pool, FAIL, ['{"job_id": 1}'])).rejects.toMatchObject({ code: 'JH005' })
  })
})
