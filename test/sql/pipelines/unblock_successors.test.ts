// unblock_successors: what the end of a step means for those that come after it.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const JOIN = [{ name: 'a' }, { name: 'b' }, { name: 'c', after: ['a', 'b'] }, { name: 'd', after: ['c'] }]
const given = async (steps: Parameters<typeof enqueuePipeline>[1], onFailure = 'stop') =>
  stepsOf(db.pool, db.admin, (await enqueuePipeline(db.pool, steps, { on_failure: onFailure })).id)

describe('completions', () => {
  test('a job is pending once its last dependency has completed, and not before', async () => {
    const steps = await given(JOIN)

    await steps.complete('a')
    expect(await steps.states()).toEqual({ a: 'completed', b: 'pending', c: 'waiting', d: 'waiting' })
    await steps.complete('b')
    expect(await steps.states()).toEqual({ a: 'completed', b: 'completed', c: 'pending', d: 'waiting' })
  })

  test('both last dependencies in one batch free their successor', async () => {
    const steps = await given(JOIN)
    const leases = [await steps.leaseOf('a'), await steps.leaseOf('b')]

    await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(...leases)])

    expect((await steps.states()).c).toBe('pending')
  })

  test('a completion inside a transaction frees the successor when it commits', async () => {
    const steps = await given([{ name: 'a' }, { name: 'b', after: ['a'] }])
    const { job_id, token, lease_id } = await steps.leaseOf('a')
    const worker = await db.connect()
    await worker.query('begin')

    await ask(worker, 'select holdfast.complete_job($1, $2, $3)', [job_id, token, lease_id])
    expect((await steps.states()).b).toBe('waiting')
    await worker.query('commit')

    expect((await steps.states()).b).toBe('pending')
  })

  test('a failure that will be retried leaves the successor waiting', async () => {
    const steps = await given([{ name: 'a' }, { name: 'b', after: ['a'] }])
    const lease = await steps.leaseOf('a')

    await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [settlement({ ...lease, delay_ms: 0 })])

    expect(await steps.states()).toEqual({ a: 'pending', b: 'waiting' })
    await steps.complete('a')
    expect((await steps.states()).b).toBe('pending')
  })

  test('two sessions that complete the last two dependencies at once: the second frees the successor', async () => {
    const steps = await given(JOIN)
    const [a, b] = [await steps.leaseOf('a'), await steps.leaseOf('b')]
    const [first, second] = [await db.connect(), await db.connect()]
    const pid = await pidOf(second)
    await first.query('begin')
    await ask(first, 'select * from holdfast.complete_jobs($1)', [settlement(a)])

    const completion = ask(second, 'select * from holdfast.complete_jobs($1)', [settlement(b)])
    await waitUntilBlocked(db.admin, pid)
    expect((await steps.states()).c).toBe('waiting')
    await first.query('commit')
    await completion

    expect((await steps.states()).c).toBe('pending')
  })

  test('when the first of two such sessions rolls back, the successor goes on waiting for it', async () => {
    const steps = await given(JOIN)
    const [a, b] = [await steps.leaseOf('a'), await steps.leaseOf('b')]
    const [first, second] = [await db.connect(), await db.connect()]
    const pid = await pidOf(second)
    await first.query('begin')
    await ask(first, 'select * from holdfast.complete_jobs($1)', [settlement(a)])

    const completion = ask(second, 'select * from holdfast.complete_jobs($1)', [settlement(b)])
    await waitUntilBlocked(db.admin, pid)
    await first.query('rollback')
    await completion

    expect(await steps.states()).toEqual({ a: 'running', b: 'completed', c: 'waiting', d: 'waiting' })
    expect(await askValue(db.admin, 'select min(open) from holdfast.waiting')).toBe(1)
  })

  test('sessions that settle crossing sets of successors never deadlock', async () => {
    const fan = Array.from({ length: 6 }, (_, i) => ({ name: `x${i}`, after: ['a', 'b', 'c', 'd'] }))
    const steps = await given([{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }, ...fan])
    const leases = await Promise.all(['a', 'b', 'c', 'd'].map((name) => steps.leaseOf(name)))

    await Promise.all(
      leases.map((lease) => ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])),
    )

    expect(await askValue(db.admin, `select count(*)::int from holdfast.ready`)).toBe(6)
  })
})

describe('stop', () => {
  test('a final failure cancels what waits and what is pending; what runs may end', async () => {
    const steps = await given([...JOIN, { name: 'e' }, { name: 'f', after: ['e'] }])
    const running = await steps.leaseOf('e')

    await steps.fail('a')

    expect(await steps.states()).toEqual({
      a: 'failed',
      b: 'cancelled',
      c: 'cancelled',
      d: 'cancelled',
      e: 'running',
      f: 'cancelled',
    })
    const failed = await steps.jobOf('a')
    expect(
      await askRow(db.admin, 'select stopped_by, stopped_at is not null as is_stopped from holdfast.pipeline'),
    ).toEqual({
      stopped_by: failed,
      is_stopped: true,
    })
    expect(
      await askValue(db.admin, `select distinct error ->> 'message' from holdfast.outcome where state = 'cancelled'`),
    ).toBe(`step a (job ${failed}) failed`)
    await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(running)])
    expect((await steps.states()).e).toBe('completed')
  })

  test.each([
    ['cancelled by an operator', 'cancelled', (id: string) => ask(db.pool, 'select holdfast.cancel_job($1)', [id])],
    [
      'cancelled by its handler',
      'cancelled',
      async (id: string) =>
        ask(db.pool, 'select * from holdfast.cancel_jobs($1)', [settlement(await givenIn(db.pool).claimed(id))]),
    ],
    [
      'lost by its worker for the last time',
      'failed',
      async (id: string) => {
        await givenIn(db.pool).claimed(id)
        const later = await db.connect()
        await setClock(later, '2199-01-01T00:00:00Z')
        await ask(later, 'select * from holdfast.reap_leases()')
      },
    ],
  ])('a step that was %s stops the rest', async (_how, state, end) => {
    const steps = await given([
      { name: 'a', max_attempts: 1 },
      { name: 'b', after: ['a'] },
    ])

    await end(await steps.jobOf('a'))

    expect(await steps.states()).toEqual({ a: state, b: 'cancelled' })
  })

  test('a step that is superseded stops the rest, pending or running', async () => {
    const newest = { key: 'k', key_policy: 'supersede' }
    const running = await given([
      { name: 'a', ...newest },
      { name: 'b', after: ['a'] },
    ])
    await running.leaseOf('a')
    const pending = await given([
      { name: 'a', ...newest },
      { name: 'b', after: ['a'] },
    ])

    await givenIn(db.pool).runningJob(newest)

    expect(await running.states()).toEqual({ a: 'superseded', b: 'cancelled' })
    expect(await pending.states()).toEqual({ a: 'superseded', b: 'cancelled' })
  })

  test('a claim that supersedes and a reap do not wait for a session that settles in the same pipeline', async () => {
    const newest = { key: 'k', key_policy: 'supersede' }
    const steps = await given([
      { name: 'a', max_attempts: 1, ...newest },
      { name: 'b' },
      { name: 'c', after: ['a', 'b'] },
    ])
    await steps.leaseOf('a')
    const lease = await steps.leaseOf('b')
    const settler = await db.connect()
    await settler.query('begin')
    await ask(settler, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])
    const next = await givenIn(db.pool).pendingJob(newest)
    const other = await db.connect()
    await other.query(`set lock_timeout = '100ms'`)

    expect(await askValue(other, `select holdfast.claim_job($1, 'w2')`, [next])).toBe(false)
    await setClock(other, '2199-01-01T00:00:00Z')
    expect(await askList(other, 'select job_id from holdfast.reap_leases()')).toEqual([])
    await settler.query('commit')

    expect(await askValue(db.pool, `select holdfast.claim_job($1, 'w2')`, [next])).toBe(true)
    expect(await steps.states()).toEqual({ a: 'superseded', b: 'completed', c: 'cancelled' })
  })

  test('a stop beside a completion that frees a job: the job is cancelled, whichever comes first', async () => {
    const steps = await given([{ name: 'a' }, { name: 'b' }, { name: 'c', after: ['b'] }])
    const [a, b] = [await steps.leaseOf('a'), await steps.leaseOf('b')]
    const [completer, failer] = [await db.connect(), await db.connect()]
    const pid = await pidOf(failer)
    await completer.query('begin')
    await ask(completer, 'select * from holdfast.complete_jobs($1)', [settlement(b)])

    const failure = ask(failer, 'select * from holdfast.fail_jobs($1)', [settlement({ ...a, permanent: true })])
    await waitUntilBlocked(db.admin, pid)
    await completer.query('commit')
    await failure

    expect(await steps.states()).toEqual({ a: 'failed', b: 'completed', c: 'cancelled' })
  })
})

describe('continue', () => {
  test('successors of a failed step run when the others are done too', async () => {
    const steps = await given(JOIN, 'continue')

    await steps.fail('a')
    expect(await steps.states()).toEqual({ a: 'failed', b: 'pending', c: 'waiting', d: 'waiting' })
    await steps.complete('b')

    expect((await steps.states()).c).toBe('pending')
    expect(await askValue(db.admin, 'select stopped_at from holdfast.pipeline')).toBe(null)
  })

  test('a waiting step that is cancelled counts as done for those after it', async () => {
    const steps = await given(JOIN, 'continue')

    await ask(db.pool, 'select holdfast.cancel_job($1)', [await steps.jobOf('c')])

    expect(await steps.states()).toEqual({ a: 'pending', b: 'pending', c: 'cancelled', d: 'pending' })
  })
})

test('a completed step that is retried is waited for again', async () => {
  const steps = await given(JOIN)
  await steps.complete('a')

  await ask(db.pool, 'select holdfast.retry_job($1)', [await steps.jobOf('a')])
  await steps.complete('b')
  expect((await steps.states()).c).toBe('waiting')
  await steps.complete('a')

  expect((await steps.states()).c).toBe('pending')
})

test('a keyed step waits for its key after its dependencies', async () => {
  const steps = await given([{ name: 'a' }, { name: 'b', after: ['a'], key: 'k' }])
  const holder = await givenIn(db.pool).runningJob({ key: 'k' })
  await steps.complete('a')

  expect(await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)).toEqual([])
  await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(holder)])

  await steps.complete('b')
  expect(await steps.states()).toEqual({ a: 'completed', b: 'completed' })
})
