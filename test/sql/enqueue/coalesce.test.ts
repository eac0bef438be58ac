// Keys of policy coalesce: at most one pending job of a key, and exactly one more run after what was asked while one runs.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { pidOf, refuseToWait, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const KEY = { key: 'k', key_policy: 'coalesce' }
const given = () => givenIn(db.pool)
const claim = (session: Session = db.pool) =>
  ask<Lease & { input: unknown }>(
    session,
    `select id as job_id, token, lease_id, input from holdfast.claim_jobs('w', '{default}', '{task}', 10)`,
  )
const complete = (lease?: object) => ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(lease ?? {})])
const stateOf = (id: string) => askValue<string>(db.admin, 'select holdfast.state_of($1)', [id])

describe('while one is pending', () => {
  test('a second enqueue gives the same job with what was asked last', async () => {
    const first = await given().pendingJob({ ...KEY, input: 1, priority: 7, tags: ['old'] })

    const second = await given().pendingJob({
      ...KEY,
      input: 2,
      priority: 3,
      max_attempts: 9,
      tags: ['new'],
      queue: 'q',
    })

    expect(second).toBe(first)
    expect(
      await askList(
        db.admin,
        'select to_jsonb(v) from (select input, priority, max_attempts, tags, queue from holdfast.jobs) as v',
      ),
    ).toEqual([{ input: 2, priority: 3, max_attempts: 9, tags: ['new'], queue: 'q' }])
    expect(await askRow(db.admin, 'select priority, max_attempts, queue from holdfast.ready')).toEqual({
      priority: 3,
      max_attempts: 9,
      queue: 'q',
    })
  })

  test('keep gives the pending job and leaves it as it is', async () => {
    const first = await given().pendingJob({ ...KEY, input: 1, delay: '1h' })
    const before = await askRow(db.admin, 'select * from holdfast.jobs')

    const second = await given().pendingJob({ ...KEY, input: 2, coalesce: 'keep' })

    expect(second).toBe(first)
    expect(await askRow(db.admin, 'select * from holdfast.jobs')).toEqual(before)
  })

  test('replace also moves the time, so a burst can be put off until it ends', async () => {
    await given().pendingJob(KEY)
    await given().pendingJob({ ...KEY, run_at: '2090-01-01T00:00:00Z' })

    expect(await claim()).toEqual([])
    expect(await askValue(db.admin, 'select run_at from holdfast.ready')).toEqual(new Date('2090-01-01T00:00:00Z'))
  })

  test('several members of one batch with one key become one job with the last input', async () => {
    const jobs = [1, 2, 3].map((input) => ({ type: 'task', input, ...KEY }))

    const ids = await askList(db.pool, 'select holdfast.enqueue_jobs($1)', [JSON.stringify(jobs)])

    expect(new Set(ids).size).toBe(1)
    expect(await claim()).toMatchObject([{ job_id: ids[0], input: 3 }])
  })

  test('another key has a job of its own', async () => {
    expect(await given().pendingJob(KEY)).not.toBe(await given().pendingJob({ ...KEY, key: 'other' }))
  })
})

describe('while one runs', () => {
  test('what was claimed is not rewritten; however much is asked, exactly one more run follows', async () => {
    const running = await given().runningJob({ ...KEY, input: 'running' })

    const asked = [
      await given().pendingJob({ ...KEY, input: 'a' }),
      await given().pendingJob({ ...KEY, input: 'b' }),
      await given().pendingJob({ ...KEY, input: 'c', coalesce: 'keep' }),
    ]

    expect(new Set(asked).size).toBe(1)
    expect(asked[0]).not.toBe(running.job_id)
    expect(await claim()).toEqual([])
    await complete(running)
    const [follow] = await claim()
    expect(follow).toMatchObject({ job_id: asked[0], input: 'b' })
    await complete(follow)
    expect(await claim()).toEqual([])
    expect(await askList(db.admin, 'select input from holdfast.job order by id')).toEqual(['running', 'b'])
  })

  test('the follow-up that is parked can still be replaced and is un-parked by it', async () => {
    await given().runningJob(KEY)
    const next = await given().pendingJob(KEY)
    await claim()
    expect(await askValue(db.admin, 'select parked from holdfast.ready')).toBe(true)

    expect(await given().pendingJob({ ...KEY, input: 'later' })).toBe(next)

    expect(await askValue(db.admin, 'select parked from holdfast.ready')).toBe(false)
    expect(await claim()).toEqual([])
    expect(await askValue(db.admin, 'select parked from holdfast.ready')).toBe(true)
  })

  test.each(['replace', 'keep'])(
    'a follow-up that an open transaction merges into (%s) as the run ends is claimed once that commits',
    async (coalesce) => {
      const running = await given().runningJob(KEY)
      const next = await given().pendingJob(KEY)
      await claim()
      const producer = await db.connect()
      await producer.query('begin')
      expect(await givenIn(producer).pendingJob({ ...KEY, input: 'merged', coalesce })).toBe(next)

      await complete(running)
      expect(await claim()).toEqual([])
      await producer.query('commit')

      expect(await claim()).toMatchObject([{ job_id: next }])
    },
  )
})

describe('a retry beside a fresh job', () => {
  test('the fresh one wins and the older becomes superseded', async () => {
    const failed = await given().runningJob({ ...KEY, input: 'old' })
    await ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...failed, delay_ms: 0 })])
    const fresh = await given().pendingJob({ ...KEY, input: 'new' })

    expect(fresh).not.toBe(failed.job_id)
    expect(await claim()).toMatchObject([{ job_id: fresh, input: 'new' }])
    expect(await stateOf(failed.job_id)).toBe('superseded')
  })

  test('keep gives the job that waits for its retry', async () => {
    const failed = await given().runningJob(KEY)
    await ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...failed, delay_ms: 60_000 })])

    expect(await given().pendingJob({ ...KEY, coalesce: 'keep' })).toBe(failed.job_id)
  })

  test('a retry alone runs again with its own input', async () => {
    const failed = await given().runningJob({ ...KEY, input: 'mine' })
    await ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...failed, delay_ms: 0 })])

    expect(await claim()).toMatchObject([{ job_id: failed.job_id, input: 'mine' }])
  })
})

describe('open transactions', () => {
  test('the second to enqueue a new key waits and merges into the job of the first', async () => {
    const [one, two] = [await db.connect(), await db.connect()]
    const pid = await pidOf(two)
    await one.query('begin')
    const first = await givenIn(one).pendingJob({ ...KEY, input: 1 })

    const second = givenIn(two).pendingJob({ ...KEY, input: 2 })
    await waitUntilBlocked(db.admin, pid)
    await one.query('commit')

    expect(await second).toBe(first)
    expect(await askList(db.admin, 'select input from holdfast.job')).toEqual([2])
  })

  test('the second makes a job of its own when the first rolls back', async () => {
    const [one, two] = [await db.connect(), await db.connect()]
    const pid = await pidOf(two)
    await one.query('begin')
    const first = await givenIn(one).pendingJob({ ...KEY, input: 1 })

    const second = givenIn(two).pendingJob({ ...KEY, input: 2 })
    await waitUntilBlocked(db.admin, pid)
    await one.query('rollback')

    expect(await second).not.toBe(first)
    expect(await claim()).toMatchObject([{ job_id: await second, input: 2 }])
  })

  test('a job does not start before the transaction that merges into it commits, and the claim does not wait', async () => {
    const id = await given().pendingJob({ ...KEY, input: 1 })
    const [producer, claimer] = [await db.connect(), await db.connect()]
    await refuseToWait(claimer)
    await producer.query('begin')
    await givenIn(producer).pendingJob({ ...KEY, input: 2 })

    expect(await claim(claimer)).toEqual([])
    await producer.query('commit')

    expect(await claim(claimer)).toMatchObject([{ job_id: id, input: 2 }])
  })

  test('an enqueue that waits for a claim of the pending job makes a follow-up when the claim commits', async () => {
    const id = await given().pendingJob({ ...KEY, input: 1 })
    const [claimer, producer] = [await db.connect(), await db.connect()]
    const pid = await pidOf(producer)
    await claimer.query('begin')
    expect(await claim(claimer)).toHaveLength(1)

    const next = givenIn(producer).pendingJob({ ...KEY, input: 2 })
    await waitUntilBlocked(db.admin, pid)
    await claimer.query('commit')

    expect(await next).not.toBe(id)
    expect(await stateOf(await next)).toBe('pending')
  })

  test('two batches that name the same keys in opposite orders do not deadlock', async () => {
    const jobs = ['a', 'b', 'c', 'd'].map((key) => ({ type: 'task', key, key_policy: 'coalesce' }))
    const enqueue = (members: object[]) =>
      askList(db.pool, 'select holdfast.enqueue_jobs($1)', [JSON.stringify(members)])

    for (let i = 0; i < 10; i += 1) await Promise.all([enqueue(jobs), enqueue([...jobs].reverse()), enqueue(jobs)])

    expect(await askValue(db.admin, 'select count(*)::int from holdfast.ready')).toBe(4)
  })
})

test('a known dedupe_id gives its job even when that has run', async () => {
  const { job_id } = await given().finishedJob('completed', { ...KEY, dedupe_id: 'd' })

  expect(await given().pendingJob({ ...KEY, dedupe_id: 'd' })).toBe(job_id)
})
