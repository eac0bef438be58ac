// complete_jobs: who may end a job as completed, member by member.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const complete = (...members: object[]) =>
  ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(...members)])
const stateOf = (id: string) => askValue<string>(db.admin, 'select holdfast.state_of($1)', [id])
const settled = (lease: Lease) => ({ job_id: lease.job_id, settled: true, code: null })
const lost = (lease: Lease) => ({ job_id: lease.job_id, settled: false, code: 'LEASE_LOST' })

describe('the holder', () => {
  test('a completed job keeps its output, its attempts and who ran it', async () => {
    const lease = await given().runningJob()

    const answer = await complete({ ...lease, output: { rows: 7 } })

    expect(answer).toEqual([settled(lease)])
    expect(
      await askRow(db.admin, 'select state, output, error, attempts, token, locked_by from holdfast.jobs'),
    ).toEqual({
      state: 'completed',
      output: { rows: 7 },
      error: null,
      attempts: 1,
      token: lease.token,
      locked_by: 'worker-1',
    })
  })

  test('a completion without output keeps none, and one of JSON null keeps JSON null', async () => {
    const [without, ofNull] = [await given().runningJob(), await given().runningJob()]

    await complete(without, { ...ofNull, output: null })

    expect(await askList(db.admin, 'select output from holdfast.outcome order by job_id')).toEqual([null, null])
    expect(await stateOf(ofNull.job_id)).toBe('completed')
  })

  test('answers come in the order of the members', async () => {
    const leases = [await given().runningJob(), await given().runningJob({ key: 'k' }), await given().runningJob()]
    const asked = [leases[2], leases[0], leases[1]] as Lease[]

    expect(await complete(...asked)).toEqual(asked.map(settled))
  })

  test('an empty batch has an empty answer', async () => {
    expect(await complete()).toEqual([])
  })

  test('a completion makes no row in attempt', async () => {
    await complete(await given().runningJob())

    expect(await ask(db.admin, 'select * from holdfast.attempt')).toEqual([])
  })

  test('each member of a batch of a thousand keeps its own output', async () => {
    await ask(
      db.pool,
      `select holdfast.enqueue_jobs((select jsonb_agg('{"type": "task"}'::jsonb) from generate_series(1, 1000)))`,
    )
    const leases = await ask<Lease>(
      db.pool,
      `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', 1000)`,
    )

    const answer = await complete(...leases.map((lease) => ({ ...lease, output: lease.job_id })))

    expect(answer).toEqual(leases.map(settled))
    expect(
      await askValue(db.admin, `select count(*)::int from holdfast.outcome where output = to_jsonb(job_id::text)`),
    ).toBe(1000)
  })
})

describe.each([
  { kind: 'a job without a key', wish: {} },
  { kind: 'a keyed job', wish: { key: 'k' } },
])('the guard on $kind', ({ wish }) => {
  test('a token that is not the present one is refused', async () => {
    const lease = await given().runningJob(wish)
    const stale = { ...lease, token: String(Number(lease.token) - 1) }

    expect(await complete(stale)).toEqual([lost(lease)])
    expect(await stateOf(lease.job_id)).toBe('running')
  })

  test('a lease id that is not the present one is refused, though the token fits', async () => {
    const lease = await given().runningJob(wish)

    expect(await complete({ ...lease, lease_id: randomUUID() })).toEqual([lost(lease)])
    expect(await stateOf(lease.job_id)).toBe('running')
  })

  test('a member that names no lease at all is refused', async () => {
    const lease = await given().runningJob(wish)

    expect(await complete({ job_id: lease.job_id })).toEqual([lost(lease)])
    expect(await stateOf(lease.job_id)).toBe('running')
  })

  test('a stale member does not keep its neighbours from being settled', async () => {
    const [stale, fresh] = [await given().runningJob(wish), await given().runningJob()]

    const answer = await complete({ ...stale, lease_id: randomUUID() }, fresh)

    expect(answer).toEqual([lost(stale), settled(fresh)])
  })

  test('a stale worker cannot complete a job that was released and claimed again', async () => {
    const stale = await given().runningJob(wish)
    await ask(db.pool, 'select * from holdfast.release_jobs($1)', [settlement(stale)])
    const fresh = await given().claimed(stale.job_id, 'worker-2')

    expect(await complete({ ...stale, output: 'late' })).toEqual([lost(stale)])
    expect(await complete({ ...fresh, output: 'mine' })).toEqual([settled(fresh)])
    expect(await askValue(db.admin, 'select output from holdfast.outcome')).toBe('mine')
  })

  test('of two members for one job only the one with the lease is settled', async () => {
    const lease = await given().runningJob(wish)
    const stale = { ...lease, lease_id: randomUUID(), output: 'stale' }

    expect(await complete(stale, { ...lease, output: 'right' })).toEqual([lost(lease), settled(lease)])
    expect(await askList(db.admin, 'select output from holdfast.outcome')).toEqual(['right'])
  })

  test('repeating a completion after a lost answer is true again and changes nothing', async () => {
    const lease = await given().runningJob(wish)
    await complete({ ...lease, output: 'first' })

    expect(await complete({ ...lease, output: 'second' })).toEqual([settled(lease)])
    expect(await askList(db.admin, 'select output from holdfast.outcome')).toEqual(['first'])
  })

  test('a job named twice with the same lease is completed once and answered twice', async () => {
    const lease = await given().runningJob(wish)

    expect(await complete(lease, lease)).toEqual([settled(lease), settled(lease)])
    expect(await askList(db.admin, 'select job_id from holdfast.outcome')).toEqual([lease.job_id])
  })
})

describe('leases that look alike', () => {
  test('a stale run of a job that the worker holds again under another lease of the batch is refused', async () => {
    const stale = await given().runningJob()
    await ask(db.pool, 'select * from holdfast.release_jobs($1)', [settlement(stale)])
    const other = await given().pendingJob()
    const again = await ask<Lease>(
      db.pool,
      `select id as job_id, token, lease_id from holdfast.claim_jobs('worker-1', '{default}', '{task}', 2)`,
    )
    const [fresh, neighbour] = [stale.job_id, other].map((id) => again.find((lease) => lease.job_id === id)) as [
      Lease,
      Lease,
    ]

    const answer = await complete({ ...stale, output: 'stale' }, neighbour)

    expect(fresh.lease_id).toBe(neighbour.lease_id)
    expect(answer).toEqual([lost(stale), settled(neighbour)])
    expect(await stateOf(stale.job_id)).toBe('running')
  })

  test('the present token with the old lease id is refused', async () => {
    const stale = await given().runningJob()
    await ask(db.pool, 'select * from holdfast.release_jobs($1)', [settlement(stale)])
    const fresh = await given().claimed(stale.job_id)

    expect(await complete({ ...stale, token: fresh.token })).toEqual([lost(stale)])
  })

  test('a job that another operation has ended is refused', async () => {
    const failed = await given().finishedJob('failed')
    const cancelled = await given().finishedJob('cancelled')

    expect(await complete(failed, cancelled)).toEqual([lost(failed), lost(cancelled)])
    expect(await stateOf(failed.job_id)).toBe('failed')
  })

  test('an unknown id is refused', async () => {
    const nobody = { job_id: '999999999', token: '1', lease_id: randomUUID() }

    expect(await complete(nobody)).toEqual([lost(nobody)])
  })
})

test.each([
  ['null', null],
  ['an object', '{}'],
  ['a text', '"x"'],
  ['an array of numbers', '[1]'],
  ['an array with one null', '[{"job_id": 1}, null]'],
])('%s instead of an array of objects is refused by its code', async (_kind, argument) => {
  await expect(ask(db.pool, 'select * from holdfast.complete_jobs($1)', [argument])).rejects.toMatchObject({
    code: 'JH005',
  })
})

test('a completion that waits for a cancel of the same job loses when the cancel commits', async () => {
  const lease = await given().runningJob()
  const canceller = await db.connect()
  const worker = await db.connect()
  const pid = await pidOf(worker)
  await canceller.query('begin')
  await ask(canceller, 'select holdfast.cancel_job($1)', [lease.job_id])

  const completion = ask(worker, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])
  await waitUntilBlocked(db.admin, pid)
  await canceller.query('commit')

  expect(await completion).toEqual([lost(lease)])
  expect(await stateOf(lease.job_id)).toBe('cancelled')
})

test('a completion that waits for a cancel of the same job wins when the cancel rolls back', async () => {
  const lease = await given().runningJob({ key: 'k' })
  const canceller = await db.connect()
  const worker = await db.connect()
  const pid = await pidOf(worker)
  await canceller.query('begin')
  await ask(canceller, 'select holdfast.cancel_job($1)', [lease.job_id])

  const completion = ask(worker, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])
  await waitUntilBlocked(db.admin, pid)
  await canceller.query('rollback')

  expect(await completion).toEqual([settled(lease)])
})
