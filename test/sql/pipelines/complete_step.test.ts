// complete_step: the short way from one step to the next. What it may not do itself it leaves to the long way.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { enqueuePipeline, type StepWish, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
type Handed = { lease_id: string; id: string[]; usual: { token: string; attempts: number }; [column: string]: unknown }
const COMPLETE = `select holdfast.complete_step_v1($1, $2, $3, $4, 'w1', '{default}', array[$5::int], $6)`
const complete = (
  { job_id, token, lease_id, output = null }: Lease & { output?: object | null },
  { session = db.pool as Session, room = 1, types = ['task'] } = {},
) => askValue<Handed[] | null>(session, COMPLETE, [job_id, token, lease_id, output, room, types])
// As every worker does when it starts.
beforeEach(() =>
  ask(
    db.pool,
    `select holdfast.put_job_types_v1('[{"type": "task", "queue": "default", "priority": 5, "max_attempts": 3,
      "lease_seconds": 77, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  ),
)

const started = async (steps: readonly StepWish[], pipeline: object = {}) => {
  const { id } = await enqueuePipeline(db.pool, steps, pipeline)
  return { id, ...stepsOf(db.pool, db.admin, id) }
}
const TWO = [{ name: 'a' }, { name: 'b', after: ['a'] }]
const JOIN = [{ name: 'a' }, { name: 'b' }, { name: 'c', after: ['a', 'b'] }]
const leaseIn = ({ id, usual, lease_id }: Handed): Lease => ({ job_id: id[0] as string, token: usual.token, lease_id })
const withoutNulls = (columns: object | undefined) =>
  Object.fromEntries(Object.entries(columns ?? {}).filter(([, value]) => value !== null))
const sound = async () => expect(await ask(db.admin, 'select * from holdfast.check_places()')).toEqual([])

describe('the next step', () => {
  test('goes from waiting to running without having been pending, and reads no table from end to end', async () => {
    const { leaseOf, states } = await started(TWO)
    const lease = await leaseOf('a')
    const client = await db.connect('admin')
    await client.query('begin')

    const handed = await complete(lease, { session: client })

    expect(
      await askRow(
        client,
        `select pg_stat_get_xact_tuples_inserted('holdfast.ready'::regclass)::int as pending,
                pg_stat_get_xact_tuples_inserted('holdfast.lease'::regclass)::int as running,
                (select sum(pg_stat_get_xact_numscans(c.oid))::int from pg_class as c
                  where c.relnamespace = 'holdfast'::regnamespace
                    and c.relname in ('job', 'lease', 'waiting', 'dependency', 'outcome', 'queue', 'job_type')) as scans`,
      ),
    ).toEqual({ pending: 0, running: 1, scans: 0 })
    await client.query('commit')
    expect(handed).toHaveLength(1)
    expect(await states()).toEqual({ a: 'completed', b: 'running' })
    await sound()
  })

  test('comes as a claim by id would give it', async () => {
    const options = {
      input: { n: 1 },
      tags: ['x'],
      priority: 3,
      max_attempts: 7,
      trace: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    }
    const first = await started([{ name: 'a' }, { name: 'b', after: ['a'], ...options }])
    const second = await started([{ name: 'b', ...options }])

    const handed = await complete(await first.leaseOf('a'))
    const claimed = await askValue<Handed>(db.pool, `select holdfast.claim_by_id_v1($1, 'w1', '{task}')`, [
      await second.jobOf('b'),
    ])

    expect(withoutNulls(handed?.[0])).toEqual({
      ...withoutNulls(claimed),
      lease_id: expect.any(String),
      id: await first.jobOf('b'),
      usual: { ...claimed.usual, pipeline_id: first.id },
      due_ms: [expect.any(Number)],
    })
    const columns = `select type, queue, priority, attempts, max_attempts, token, locked_by, linked,
                            locked_until - locked_at as lasts from holdfast.lease where job_id = any ($1)`
    const [one, other] = await ask(db.admin, columns, [[await first.jobOf('b'), await second.jobOf('b')]])
    expect(one).toEqual(other)
    expect(one).toMatchObject({ lasts: { minutes: 1, seconds: 17 } })
  })

  test('is the holder of what it was given: its lease completes it, and the pipeline is over', async () => {
    const { leaseOf, states } = await started(TWO)
    const handed = await complete(await leaseOf('a'))

    expect(await complete(leaseIn(handed?.[0] as Handed))).toEqual([])

    expect(await states()).toEqual({ a: 'completed', b: 'completed' })
    await sound()
  })

  test('has a token that grows with each claim, also after the pipeline was retried', async () => {
    const { id, fail, leaseOf } = await started(TWO, { on_failure: 'continue' })
    await fail('a')
    expect(await complete(await leaseOf('b'))).toEqual([])
    await ask(db.pool, 'select holdfast.retry_pipeline($1)', [id])

    const handed = await complete(await leaseOf('a'))

    expect(handed?.[0]).toMatchObject({ usual: { token: '2', attempts: 1 } })
    expect(await askList(db.admin, 'select token from holdfast.lease')).toEqual(['2'])
  })
})

describe('the next step is pending instead, and not started,', () => {
  test.each([
    ['when there is no room', TWO, { room: 0 }],
    ['when the caller has no handler for its type', [{ name: 'a' }, { name: 'b', after: ['a'], type: 'other' }], {}],
    ['when its queue is not served', [{ name: 'a' }, { name: 'b', after: ['a'], queue: 'bulk' }], {}],
  ])('%s', async (_why, steps, how) => {
    const { leaseOf, states } = await started(steps)

    expect(await complete(await leaseOf('a'), how)).toEqual([])

    expect(await states()).toEqual({ a: 'completed', b: 'pending' })
    expect(await ask(db.admin, 'select attempts, token, linked from holdfast.ready')).toEqual([
      { attempts: 0, token: '0', linked: true },
    ])
    await sound()
  })

  test('when its queue is paused', async () => {
    const { leaseOf, states } = await started(TWO)
    const lease = await leaseOf('a')
    await ask(db.pool, `select holdfast.pause_queue('default')`)

    expect(await complete(lease)).toEqual([])

    expect(await states()).toEqual({ a: 'completed', b: 'pending' })
  })

  test('when another holds its key', async () => {
    const { leaseOf, states } = await started([{ name: 'a' }, { name: 'b', after: ['a'], key: 'k' }])
    await givenIn(db.pool).runningJob({ key: 'k' })

    expect(await complete(await leaseOf('a'))).toEqual([])

    expect(await states()).toEqual({ a: 'completed', b: 'pending' })
    await sound()
  })
})

test('a step with a key takes the long way, which gives it its key', async () => {
  const { jobOf, leaseOf, states } = await started([{ name: 'a' }, { name: 'b', after: ['a'], key: 'k' }])

  const handed = await complete(await leaseOf('a'))

  expect(handed?.[0]).toMatchObject({ id: await jobOf('b'), usual: { key: 'k' } })
  expect(await states()).toEqual({ a: 'completed', b: 'running' })
  await sound()
})

test('a step of a type that nobody has described takes the long way, which gives it the lease of such types', async () => {
  const { jobOf, leaseOf } = await started([{ name: 'a' }, { name: 'b', after: ['a'], type: 'new' }])

  const handed = await complete(await leaseOf('a'), { types: ['new'] })

  expect(handed?.[0]).toMatchObject({ id: await jobOf('b'), usual: { lease_seconds: 30 } })
})

test('a keyed step that ends gives its key back and hands its successor off', async () => {
  const { leaseOf, states } = await started([
    { name: 'a', key: 'k' },
    { name: 'b', after: ['a'] },
  ])

  const handed = await complete(await leaseOf('a'))

  expect(handed).toHaveLength(1)
  expect(await states()).toEqual({ a: 'completed', b: 'running' })
  await sound()
})

describe('the guard', () => {
  test.each([
    ['token', { token: '2' }],
    ['lease id', { lease_id: randomUUID() }],
  ])('a stale %s is lost and changes nothing', async (_what, stale) => {
    const { leaseOf, states } = await started(TWO)

    expect(await complete({ ...(await leaseOf('a')), ...stale })).toBeNull()

    expect(await states()).toEqual({ a: 'running', b: 'waiting' })
  })

  test('repeating a completion is settled again and hands no job off twice', async () => {
    const { leaseOf, states } = await started(TWO)
    const lease = await leaseOf('a')
    await complete(lease)

    expect(await complete(lease)).toEqual([])

    expect(await states()).toEqual({ a: 'completed', b: 'running' })
    expect(await askList(db.admin, 'select attempts from holdfast.lease')).toEqual([1])
  })

  test('a transaction that could not see what it waited for is refused', async () => {
    const { leaseOf, states } = await started(TWO)
    const lease = await leaseOf('a')
    const client = await db.connect()
    await client.query('begin isolation level repeatable read')

    await expect(complete(lease, { session: client })).rejects.toMatchObject({
      message: expect.stringContaining('WRONG_ISOLATION'),
    })

    await client.query('rollback')
    expect(await states()).toEqual({ a: 'running', b: 'waiting' })
  })
})

describe('other shapes of a graph', () => {
  test('a step that waits for several is handed off with the last of them', async () => {
    const { jobOf, leaseOf, states } = await started(JOIN)
    const [a, b] = [await leaseOf('a'), await leaseOf('b')]

    expect(await complete(a)).toEqual([])
    expect(await states()).toEqual({ a: 'completed', b: 'running', c: 'waiting' })
    const handed = await complete(b)

    expect(handed?.[0]?.id).toBe(await jobOf('c'))
    await sound()
  })

  test('two sessions that complete the last two at once: the second is given the successor', async () => {
    const { leaseOf, states } = await started(JOIN)
    const [a, b] = [await leaseOf('a'), await leaseOf('b')]
    const [first, second] = [await db.connect(), await db.connect()]
    const pid = await pidOf(second)
    await first.query('begin')
    expect(await complete(a, { session: first })).toEqual([])

    const completion = complete(b, { session: second })
    await waitUntilBlocked(db.admin, pid)
    await first.query('commit')

    expect(await completion).toHaveLength(1)
    expect((await states()).c).toBe('running')
    await sound()
  })

  test('no job is handed off when another end stops the pipeline first', async () => {
    const { leaseOf, states } = await started([...TWO, { name: 'other' }])
    const [a, other] = [await leaseOf('a'), await leaseOf('other')]
    const [first, second] = [await db.connect(), await db.connect()]
    const pid = await pidOf(second)
    await first.query('begin')
    await ask(first, 'select * from holdfast.fail_jobs($1)', [settlement({ ...other, permanent: true })])

    const completion = complete(a, { session: second })
    await waitUntilBlocked(db.admin, pid)
    await first.query('commit')

    expect(await completion).toEqual([])
    expect(await states()).toEqual({ a: 'completed', b: 'cancelled', other: 'failed' })
    await sound()
  })

  test('the last living step of a pipeline that has failed begins its compensation', async () => {
    const { leaseOf, states } = await started(
      [{ name: 'a', compensate: { type: 'task' } }, { name: 'b', after: ['a'] }, { name: 'other' }],
      { on_failure: 'compensate' },
    )
    const [a, other] = [await leaseOf('a'), await leaseOf('other')]
    await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [settlement({ ...other, permanent: true })])

    const handed = await complete(a)

    expect(handed).toHaveLength(1)
    expect(await states()).toEqual({ a: 'completed', b: 'cancelled', other: 'failed', 'undo a': 'running' })
    await sound()
  })
})

describe('facts of a computed input', () => {
  const COMPUTED = [{ name: 'a' }, { name: 'b', after: ['a'], input: { 'holdfast.results': { a: 'a' } } }]

  test('are those that step_results gives', async () => {
    const { jobOf, leaseOf } = await started(COMPUTED, { input: { year: 2026 } })

    const handed = await complete({ ...(await leaseOf('a')), output: { rows: 3 } })

    expect(handed?.[0]?.facts).toEqual({
      [await jobOf('b')]: await askRow(db.pool, 'select * from holdfast.step_results_v1($1)', [await jobOf('b')]),
    })
    expect(Object.values(handed?.[0]?.facts ?? {})).toMatchObject([
      { results: { a: { state: 'completed', output: { rows: 3 } } } },
    ])
  })

  test('are those of all that it waited for, of a pipeline that went on after a failure too', async () => {
    const pipeline = { on_failure: 'continue' }
    const join = await started(
      [...JOIN.slice(0, 2), { ...JOIN[2], name: 'c', input: { 'holdfast.results': {} } }],
      pipeline,
    )
    await join.fail('a')

    const handed = await complete({ ...(await join.leaseOf('b')), output: { rows: 3 } })

    expect(Object.values(handed?.[0]?.facts ?? {})[0]).toMatchObject({
      results: { a: { state: 'failed' }, b: { state: 'completed', output: { rows: 3 } } },
    })
  })

  test('are left out where they are large, also when they are those of an earlier step', async () => {
    const large = { text: 'x'.repeat(10_000) }
    const one = await started(COMPUTED)
    const join = await started([...JOIN.slice(0, 2), { ...JOIN[2], name: 'c', input: { 'holdfast.results': {} } }])

    const first = await complete({ ...(await one.leaseOf('a')), output: large })
    await join.complete('a', large)
    const second = await complete(await join.leaseOf('b'))

    expect([first?.[0]?.facts, second?.[0]?.facts]).toEqual([null, null])
  })
})
