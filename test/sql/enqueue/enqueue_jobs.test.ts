// enqueue_jobs: all members or none, in order, with the defaults of their types.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const ENQUEUE = 'select holdfast.enqueue_jobs($1, $2)'
const enqueue = (jobs: unknown, common: unknown = {}, session: Session = db.pool) =>
  askList<string>(session, ENQUEUE, [JSON.stringify(jobs), JSON.stringify(common)])
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error) => ({ sqlstate: error.code, ...JSON.parse(error.detail ?? '{}') }),
  )
const SHOWN =
  'select type, queue, priority, max_attempts, input, run_at, tags, key, key_policy, state from holdfast.jobs where id = $1'

describe('what is stored', () => {
  test('a bare job has the defaults of the house', async () => {
    const client = await db.connect()
    await setClock(client, '2030-01-01T00:00:00Z')

    const [id] = await enqueue([{ type: 'mail' }], {}, client)

    expect(await askRow(db.admin, SHOWN, [id])).toEqual({
      type: 'mail',
      queue: 'default',
      priority: 5,
      max_attempts: 3,
      input: {},
      run_at: new Date('2030-01-01T00:00:00Z'),
      tags: [],
      key: null,
      key_policy: null,
      state: 'pending',
    })
  })

  test('a described type brings its defaults; common options win over them and own options over both', async () => {
    const type = { type: 'mail', queue: 'mails', priority: 2, max_attempts: 9 }
    await ask(db.pool, 'select holdfast.put_job_types_v1($1)', [
      JSON.stringify([{ ...type, lease_seconds: 30, backoff_base_ms: 1, backoff_max_ms: 1 }]),
    ])

    const ids = await enqueue([{ type: 'mail' }, { type: 'mail', priority: 0 }, { type: 'other' }])
    const [common, own] = await enqueue([{ type: 'mail' }, { type: 'mail', queue: 'own' }], { queue: 'common' })

    const shown = await Promise.all([...ids, common, own].map((id) => askRow(db.admin, SHOWN, [id])))
    expect(shown.map(({ queue, priority, max_attempts }) => [queue, priority, max_attempts])).toEqual([
      ['mails', 2, 9],
      ['mails', 0, 9],
      ['default', 5, 3],
      ['common', 2, 9],
      ['own', 2, 9],
    ])
  })

  test('the common type and input serve members that have none', async () => {
    const ids = await enqueue([{}, { input: { own: 1 } }, { type: 'own' }], { type: 'common', input: { shared: 1 } })

    const shown = await Promise.all(ids.map((id) => askRow(db.admin, SHOWN, [id])))
    expect(shown.map(({ type, input }) => [type, input])).toEqual([
      ['common', { shared: 1 }],
      ['common', { own: 1 }],
      ['own', { shared: 1 }],
    ])
  })

  test('delay is counted from now and run_at is taken as it is', async () => {
    const client = await db.connect()
    await setClock(client, '2030-01-01T00:00:00Z')

    const ids = await enqueue(
      [
        { delay: '90s' },
        { delay: 1500 },
        { delay: '1.5h' },
        { delay: '2 days' },
        { run_at: '2031-05-05T12:00:00+02:00' },
      ],
      { type: 'task' },
      client,
    )

    const runAts = await Promise.all(ids.map(async (id) => (await askRow(db.admin, SHOWN, [id])).run_at.toISOString()))
    expect(runAts).toEqual([
      '2030-01-01T00:01:30.000Z',
      '2030-01-01T00:00:01.500Z',
      '2030-01-01T01:30:00.000Z',
      '2030-01-03T00:00:00.000Z',
      '2031-05-05T10:00:00.000Z',
    ])
  })

  test.each([null, false, 0, '', [], 'text', { '': null }])('the input %j comes back as it went in', async (input) => {
    const [id] = await enqueue([{ type: 'task', input }])

    expect((await askRow(db.admin, SHOWN, [id])).input).toEqual(input)
  })

  test('a key without a policy is exclusive', async () => {
    const [id] = await enqueue([{ type: 'task', key: 'k' }])

    expect(await askRow(db.admin, SHOWN, [id])).toMatchObject({ key: 'k', key_policy: 'exclusive' })
  })
})

describe('many at once', () => {
  test('ids come in the order of the members, and a claim takes them in that order', async () => {
    const ids = await enqueue([4, 3, 2, 1, 0].map((n) => ({ type: 'task', input: n })))

    const claimed = await ask(db.pool, `select id, input from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)
    expect(claimed).toEqual(ids.map((id, i) => ({ id, input: 4 - i })))
  })

  test('no members give no ids', async () => {
    expect(await enqueue([])).toEqual([])
  })

  test('a hundred thousand members are stored in one call', async () => {
    const jobs = Array.from({ length: 100_000 }, (_, i) => ({ type: 'task', input: i }))

    const ids = await enqueue(jobs)

    expect(new Set(ids).size).toBe(100_000)
    expect(await askValue(db.admin, 'select count(*)::int from holdfast.ready')).toBe(100_000)
    expect(await askValue(db.admin, 'select input from holdfast.job where id = $1', [ids[77_777]])).toBe(77_777)
  })
})

describe('refusals', () => {
  const deep = JSON.parse('['.repeat(65) + ']'.repeat(65))
  test.each([
    ['a member that is no object', [{ type: 'a' }, 7], 'JH005', 1],
    ['a member without a type', [{ type: 'a' }, {}], 'JH005', 1],
    ['an empty type', [{ type: '' }], 'JH005', 0],
    ['a type of null', [{ type: null }], 'JH005', 0],
    ['a type that is no text', [{ type: 5 }], 'JH005', 0],
    ['a type of 101 characters', [{ type: 'x'.repeat(101) }], 'JH005', 0],
    ['a type with a line break', [{ type: 'a\nb' }], 'JH005', 0],
    ['an unknown option', [{ type: 'a' }, { type: 'a' }, { type: 'a', prio: 1 }], 'JH005', 2],
    ['a bad option', [{ type: 'a', priority: 10 }], 'JH005', 0],
    ['an input nested too deep', [{ type: 'a' }, { type: 'a', input: deep }], 'JH004', 1],
    ['an input that is too large', [{ type: 'a', input: 'x'.repeat(262_144) }], 'JH004', 0],
  ])('%s refuses the whole batch and names its place', async (_what, jobs, sqlstate, place) => {
    expect(await refusal(enqueue(jobs))).toMatchObject({ sqlstate, place })
    expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(0)
  })

  test.each([
    ['jobs that are no array', '{}', '{}', 'always'],
    ['jobs of null', null, '{}', 'always'],
    ['common options that are no object', '[]', '[]', 'always'],
    ['common options of null', '[]', null, 'always'],
    ['an unknown way of waking', '[{"type": "a"}]', '{}', 'loudly'],
    ['waking of null', '[{"type": "a"}]', '{}', null],
  ])('%s is refused by its code', async (_what, jobs, common, wake) => {
    const call = ask(db.pool, 'select holdfast.enqueue_jobs($1, $2, $3)', [jobs, common, wake])

    await expect(call).rejects.toMatchObject({ code: 'JH005' })
  })

  test('a common input is held to the same limits', async () => {
    expect(await refusal(enqueue([{ type: 'a' }], { input: deep }))).toMatchObject({ sqlstate: 'JH004', place: 0 })
  })

  test('a member that takes the common type away is refused', async () => {
    expect(await refusal(enqueue([{ type: null }], { type: 'a' }))).toMatchObject({ sqlstate: 'JH005', place: 0 })
  })

  test('of several bad members the first is named', async () => {
    expect(await refusal(enqueue([{ type: 'a' }, { type: 'a', x: 1 }, {}]))).toMatchObject({ place: 1 })
  })
})

describe('dedupe_id', () => {
  test('the same id gives the same job again, with its first input', async () => {
    const [first] = await enqueue([{ type: 'mail', input: 1, dedupe_id: 'd' }])

    expect(await enqueue([{ type: 'mail', input: 2, dedupe_id: 'd' }])).toEqual([first])
    expect(await askList(db.admin, 'select input from holdfast.job')).toEqual([1])
  })

  test.each(['completed', 'failed', 'cancelled'] as const)('it still holds when the job is %s', async (state) => {
    const { job_id } = await givenIn(db.pool).finishedJob(state, { dedupe_id: 'd' })

    expect(await enqueue([{ type: 'task', dedupe_id: 'd' }])).toEqual([job_id])
  })

  test('another type may use the same id', async () => {
    const ids = await enqueue([
      { type: 'mail', dedupe_id: 'd' },
      { type: 'fax', dedupe_id: 'd' },
    ])

    expect(new Set(ids).size).toBe(2)
  })

  test('twice in one batch is one job, and its neighbours keep their places', async () => {
    const [a, b, c, d] = await enqueue([
      { type: 'mail', dedupe_id: 'd' },
      { type: 'mail' },
      { type: 'mail', dedupe_id: 'd' },
      { type: 'mail', dedupe_id: 'e' },
    ])

    expect(c).toBe(a)
    expect(new Set([a, b, d]).size).toBe(3)
  })

  test('the second of two open transactions waits and gets the job of the first when that commits', async () => {
    const [one, two] = [await db.connect(), await db.connect()]
    const pid = await pidOf(two)
    await one.query('begin')
    const [first] = await enqueue([{ type: 'mail', dedupe_id: 'd' }], {}, one)

    const second = enqueue([{ type: 'mail', dedupe_id: 'd' }, { type: 'mail' }], {}, two)
    await waitUntilBlocked(db.admin, pid)
    await one.query('commit')

    expect((await second)[0]).toBe(first)
    expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(2)
  })

  test('the second of two open transactions gets a job of its own when the first rolls back', async () => {
    const [one, two] = [await db.connect(), await db.connect()]
    const pid = await pidOf(two)
    await one.query('begin')
    const [first] = await enqueue([{ type: 'mail', dedupe_id: 'd' }], {}, one)

    const second = enqueue([{ type: 'mail', dedupe_id: 'd' }], {}, two)
    await waitUntilBlocked(db.admin, pid)
    await one.query('rollback')

    expect((await second)[0]).not.toBe(first)
    expect(await askList(db.admin, 'select id from holdfast.job')).toEqual(await second)
  })

  test('batches with the same ids in opposite orders do not deadlock', async () => {
    const jobs = Array.from({ length: 30 }, (_, i) => ({ type: 'mail', dedupe_id: `d${i}` }))

    const [one, two] = await Promise.all([enqueue(jobs), enqueue([...jobs].reverse())])

    expect(two).toEqual([...one].reverse())
  })
})

test('an enqueue inside a transaction that rolls back leaves nothing', async () => {
  const client = await db.connect()
  await client.query('begin')
  await enqueue([{ type: 'task' }], {}, client)
  await client.query('rollback')

  expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(0)
})
