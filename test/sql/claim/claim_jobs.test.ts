// claim_jobs: which jobs a worker gets, in which order, and what it gets with them.
import { describe, expect, test } from 'vitest'
import { ask, askRow, askValue, type Session } from '../../support/ask.js'
import { refuseToWait } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)

function claim(session: Session, { worker = 'w', queues = ['default'], types = ['task'], n = 10 } = {}) {
  return ask(session, 'select * from holdfast.claim_jobs($1, $2, $3, $4)', [worker, queues, types, n])
}
const idsOf = (rows: { id?: string }[]) => rows.map(({ id }) => id)

describe('what a claim gives', () => {
  test('a claimed job carries its input, its lease and all that was asked', async () => {
    const client = await db.connect()
    await setClock(client, '2030-01-01T00:00:00Z')
    const pipeline_id = '7d444840-9dc0-11d1-b245-5ffdce74fad2'
    const wish = { input: { to: 'a' }, priority: 2, max_attempts: 7, pipeline_id, tags: ['x', 'y'], queue: 'mail' }
    const id = await givenIn(client).pendingJob(wish)

    const [job] = await claim(client, { queues: ['mail'] })

    expect(job).toEqual({
      id,
      type: 'task',
      input: { to: 'a' },
      token: '1',
      lease_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      attempts: 1,
      locked_until: new Date('2030-01-01T00:00:30Z'),
      max_attempts: 7,
      queue: 'mail',
      priority: 2,
      run_at: new Date('2030-01-01T00:00:00Z'),
      key: null,
      pipeline_id,
      tags: ['x', 'y'],
    })
    expect(await askRow(db.admin, 'select state, locked_by, locked_at, progress from holdfast.jobs')).toEqual({
      state: 'running',
      locked_by: 'w',
      locked_at: new Date('2030-01-01T00:00:00Z'),
      progress: null,
    })
  })

  test('attempts and token grow with each claim, and each claim has a lease id of its own', async () => {
    const id = await given().pendingJob()
    const seen: Lease[] = []

    for (let i = 0; i < 3; i += 1) {
      const [job] = await claim(db.pool)
      seen.push({ job_id: String(job?.attempts), token: job?.token, lease_id: job?.lease_id })
      await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [
        settlement({ job_id: id, token: job?.token, lease_id: job?.lease_id, delay_ms: 0 }),
      ])
    }

    expect(seen.map(({ job_id, token }) => [job_id, token])).toEqual([
      ['1', '1'],
      ['2', '2'],
      ['3', '3'],
    ])
    expect(new Set(seen.map(({ lease_id }) => lease_id)).size).toBe(3)
  })

  test('the lease of each described type is as long as its row says, and 30 seconds for others', async () => {
    const client = await db.connect()
    await setClock(client, '2030-01-01T00:00:00Z')
    const lengths = { brief: 1, usual: 30, long: 3600, longest: 86_400 }
    const described = Object.entries(lengths).map(([type, lease_seconds]) => ({
      type,
      lease_seconds,
      ...TYPE_DEFAULTS,
    }))
    await ask(client, 'select holdfast.put_job_types_v1($1)', [JSON.stringify(described)])
    const types = [...Object.keys(lengths), 'undescribed']
    for (const type of types) await givenIn(client).pendingJob({ type })

    const jobs = await claim(client, { types })

    const seconds = jobs.map(({ type, locked_until }) => [
      type,
      (locked_until - Date.parse('2030-01-01T00:00:00Z')) / 1000,
    ])
    expect(Object.fromEntries(seconds)).toEqual({ ...lengths, undescribed: 30 })
  })

  test('a claim that finds nothing gives no row', async () => {
    expect(await claim(db.pool)).toEqual([])
  })
})

const TYPE_DEFAULTS = { queue: 'default', priority: 5, max_attempts: 3, backoff_base_ms: 1, backoff_max_ms: 1 }

describe('order and choice', () => {
  test('lower priority comes first, then earlier run_at, then lower id', async () => {
    const last = await given().pendingJob({ priority: 9, run_at: '2020-01-01T00:00:00Z' })
    const third = await given().pendingJob({ run_at: '2021-01-01T00:00:00Z' })
    const fourth = await given().pendingJob({ run_at: '2021-01-01T00:00:00Z' })
    const second = await given().pendingJob({ run_at: '2020-06-01T00:00:00Z' })
    const first = await given().pendingJob({ priority: 0 })

    const order = [first, second, third, fourth, last]
    expect(idsOf(await claim(db.pool, { n: 1 }))).toEqual([first])
    expect(idsOf(await claim(db.pool, { n: 2 }))).toEqual([second, third])
    expect(idsOf(await claim(db.pool))).toEqual(order.slice(3))
  })

  test('a batch comes in claim order, whatever the order in which its jobs were enqueued', async () => {
    const late = await given().pendingJob({ run_at: '2022-01-01T00:00:00Z' })
    const early = await given().pendingJob({ run_at: '2020-01-01T00:00:00Z' })
    const middle = await given().pendingJob({ run_at: '2021-01-01T00:00:00Z' })

    expect(idsOf(await claim(db.pool))).toEqual([early, middle, late])
  })

  test('a job that is not due stays pending until its time', async () => {
    const client = await db.connect()
    await setClock(client, '2030-01-01T00:00:00Z')
    const id = await givenIn(client).pendingJob({ delay: '5m' })

    await setClock(client, '2030-01-01T00:04:59.999Z')
    expect(await claim(client)).toEqual([])

    await setClock(client, '2030-01-01T00:05:00Z')
    expect(idsOf(await claim(client))).toEqual([id])
  })

  test('a type that the worker does not name is not claimed', async () => {
    await given().pendingJob({ type: 'foreign' })
    const mine = await given().pendingJob()

    expect(idsOf(await claim(db.pool))).toEqual([mine])
    expect(await claim(db.pool, { types: [] })).toEqual([])
  })

  test('queues are served in the order given, before any priority', async () => {
    const low = await given().pendingJob({ queue: 'low', priority: 0 })
    const high = await given().pendingJob({ queue: 'high', priority: 9 })
    await given().pendingJob({ queue: 'unserved' })

    expect(idsOf(await claim(db.pool, { queues: ['high', 'low'] }))).toEqual([high, low])
  })

  test('a paused queue yields no jobs and does not hold up the next queue', async () => {
    await given().pendingJob({ queue: 'a' })
    const other = await given().pendingJob({ queue: 'b' })
    await ask(db.pool, `select holdfast.pause_queue('a')`)

    expect(idsOf(await claim(db.pool, { queues: ['a', 'b'] }))).toEqual([other])
  })

  test('no more than n jobs are claimed', async () => {
    for (let i = 0; i < 5; i += 1) await given().pendingJob()

    expect(await claim(db.pool, { n: 3 })).toHaveLength(3)
    expect(await claim(db.pool, { n: 3 })).toHaveLength(2)
  })

  test('a job without attempts left cannot even be stored as pending', async () => {
    await given().pendingJob()

    const used = ask(db.admin, 'update holdfast.ready set attempts = max_attempts')

    await expect(used).rejects.toMatchObject({ code: '23514' })
  })
})

describe('beside others', () => {
  test('two claims never share a job and neither waits, though one has not committed', async () => {
    for (let i = 0; i < 6; i += 1) await given().pendingJob()
    const [one, two] = [await db.connect(), await db.connect()]
    await refuseToWait(two)
    await one.query('begin')

    const first = idsOf(await claim(one, { n: 3 }))
    const second = idsOf(await claim(two))
    await one.query('commit')

    expect(second).toHaveLength(3)
    expect(new Set([...first, ...second]).size).toBe(6)
  })

  test('jobs of a claim that rolls back are pending again with nothing counted', async () => {
    const id = await given().pendingJob()
    const client = await db.connect()
    await client.query('begin')
    await claim(client)
    await client.query('rollback')

    expect(await claim(db.pool)).toMatchObject([{ id, attempts: 1, token: '1' }])
  })

  test('a locked row at the head is skipped without waiting', async () => {
    const [locked, free] = [await given().pendingJob(), await given().pendingJob()]
    const [other, client] = [await db.connect('admin'), await db.connect()]
    await refuseToWait(client)
    await other.query('begin')
    await other.query('select from holdfast.ready where job_id = $1 for update', [locked])

    expect(idsOf(await claim(client))).toEqual([free])
    await other.query('rollback')
  })

  test('a hundred claims at once hand out each of three hundred jobs once', async () => {
    await ask(
      db.pool,
      `select holdfast.enqueue_jobs((select jsonb_agg('{"type": "task"}'::jsonb) from generate_series(1, 300)))`,
    )

    const batches = await Promise.all(Array.from({ length: 100 }, () => claim(db.pool, { n: 5 })))

    const ids = batches.flatMap(idsOf)
    expect(ids).toHaveLength(300)
    expect(new Set(ids).size).toBe(300)
  })
})

describe('what is refused', () => {
  test.each(['repeatable read', 'serializable'])('a %s transaction cannot claim', async (level) => {
    await given().pendingJob()
    const client = await db.connect()
    await client.query(`begin isolation level ${level}`)

    await expect(claim(client)).rejects.toMatchObject({ code: 'JH006' })
  })

  test.each([
    ['an empty worker', ['', ['default'], ['task'], 1]],
    ['a null worker', [null, ['default'], ['task'], 1]],
    ['null queues', ['w', null, ['task'], 1]],
    ['null types', ['w', ['default'], null, 1]],
    ['n of 0', ['w', ['default'], ['task'], 0]],
    ['a negative n', ['w', ['default'], ['task'], -1]],
    ['n beyond ten thousand', ['w', ['default'], ['task'], 10_001]],
    ['a null n', ['w', ['default'], ['task'], null]],
  ])('%s is refused by its code', async (_what, values) => {
    const call = ask(db.pool, 'select * from holdfast.claim_jobs($1, $2, $3, $4)', values)

    await expect(call).rejects.toMatchObject({ code: 'JH005' })
  })

  test.each([
    `'; drop table holdfast.job; --`,
    'pod\n/1\t\u0007',
    '\u202E工人-٣/𝒳',
    '{"json": true}',
    '%s %I $1 \\',
    'w'.repeat(5000),
  ])('the worker name %j is only a text', async (worker) => {
    await given().pendingJob()

    await claim(db.pool, { worker })

    expect(await askValue(db.admin, 'select locked_by from holdfast.lease')).toBe(worker)
  })

  test('the names of queues and types are only values', async () => {
    const name = `a"b'c\\d, {e} %`
    const id = await given().pendingJob({ type: name, queue: name })

    expect(idsOf(await claim(db.pool, { queues: [name], types: [name] }))).toEqual([id])
  })
})
