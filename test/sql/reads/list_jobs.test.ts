// list_jobs: jobs by filter, newest first, page by page, bounded.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, type Row } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)

const page = (filter: object = {}, after: string | null = null, n = 50): Promise<Row[]> =>
  ask(db.pool, 'select * from holdfast.list_jobs_v1($1, $2, $3)', [JSON.stringify(filter), after, n])
const ids = async (filter: object = {}) => (await page(filter)).filter((row) => row.id !== null).map((row) => row.id)

/** Every page one after the other; a list that does not end fails the test by its time. */
async function readAllPages(filter: object, n: number): Promise<string[]> {
  const found: string[] = []
  for (let after: string | null = null; ; ) {
    const rows = await page(filter, after, n)
    found.push(...rows.filter((row) => row.id !== null).map((row) => row.id))
    after = rows[0]?.next
    if (after === null) return found
  }
}

/** Finished jobs whose outcome is of that moment: as a worker of that day would have left them. */
async function finishedAt(moment: string): Promise<string> {
  const { job_id } = await given().finishedJob('completed')
  await ask(db.admin, 'update holdfast.job set created_at = $2 where id = $1', [job_id, moment])
  await ask(db.admin, 'update holdfast.outcome set finished_at = $2 where job_id = $1', [job_id, moment])
  return job_id
}

describe('order', () => {
  test('without states jobs of all states come by id, newest first', async () => {
    const done = (await given().finishedJob('completed')).job_id
    const running = (await given().runningJob()).job_id
    const pending = await given().pendingJob()
    const failed = (await given().finishedJob('failed')).job_id

    expect(await ids()).toEqual([failed, pending, running, done])
    expect((await page()).map((row) => row.state)).toEqual(['failed', 'pending', 'running', 'completed'])
  })

  test('with states those that run come first, then pending ones, then waiting ones, then finished ones by when they finished', async () => {
    const first = await given().runningJob()
    const second = (await given().finishedJob('completed')).job_id
    const running = (await given().runningJob()).job_id
    const pending = await given().pendingJob()
    await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [JSON.stringify([first])])

    const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b', after: ['a'] }])
    const { jobOf } = stepsOf(db.pool, db.admin, id)
    const later = await given().pendingJob()

    const states = ['completed', 'pending', 'running', 'waiting']
    const pendings = [later, await jobOf('a'), pending]
    expect(await ids({ states })).toEqual([running, ...pendings, await jobOf('b'), first.job_id, second])
  })

  test('finished jobs of many days come newest first, also those that no partition was made for', async () => {
    const today = (await given().finishedJob('completed')).job_id
    const old = await finishedAt('2024-05-02T23:59:59.999999Z')
    const older = await finishedAt('2024-05-02T00:00:00Z')
    const oldest = await finishedAt('2019-01-01T12:00:00Z')

    expect(await ids({ states: ['completed'] })).toEqual([today, old, older, oldest])
    expect(await readAllPages({ states: ['completed'] }, 1)).toEqual([today, old, older, oldest])
  })
})

describe('waiting jobs', () => {
  test('are found by all that pending ones are found by', async () => {
    const { id } = await enqueuePipeline(db.pool, [
      { name: 'a' },
      { name: 'b', after: ['a'], type: 'other', queue: 'q', tags: ['t'], input: { n: 1 } },
      { name: 'c', after: ['a'] },
    ])
    const { jobOf } = stepsOf(db.pool, db.admin, id)
    const [b, c] = [await jobOf('b'), await jobOf('c')]
    const states = ['waiting']

    expect((await ids({ states })).sort()).toEqual([b, c].sort())
    for (const filter of [
      { types: ['other'] },
      { queues: ['q'] },
      { tags: ['t'] },
      { input: [{ path: ['n'], value: '1' }] },
    ]) {
      expect(await ids({ states, ...filter }), JSON.stringify(filter)).toEqual([b])
    }
    for (const filter of [{ worker: 'w' }, { error: 'e' }, { until_ms: 3_600_000 }]) {
      expect(await ids({ states, ...filter }), JSON.stringify(filter)).toEqual([])
    }
    expect(await ids({ states, since_ms: 3_600_000 })).toHaveLength(2)
    expect((await ids({ states, pipeline_id: id })).sort()).toEqual([b, c].sort())
    expect(await readAllPages({ states }, 1)).toHaveLength(2)
  })

  test('are shown with the name of their step, not yet tried', async () => {
    const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b', after: ['a'] }])

    expect(await page({ pipeline_id: id })).toMatchObject([
      { step: 'b', state: 'waiting', attempts: 0, locked_by: null, finished_at: null },
      { step: 'a', state: 'pending' },
    ])
  })
})

describe('pages', () => {
  test.each([1, 2, 3, 7, 200])('pages of %s have every job once', async (n) => {
    const all: string[] = []
    for (let i = 0; i < 3; i += 1) {
      all.push((await given().finishedJob('completed')).job_id, (await given().finishedJob('failed')).job_id)
      all.push((await given().runningJob()).job_id, await given().pendingJob())
    }
    const states = ['pending', 'running', 'completed', 'failed']

    const byPlace = await readAllPages({ states }, n)

    expect([...byPlace].sort()).toEqual([...all].sort())
    expect(await readAllPages({}, n)).toEqual([...all].sort((a, b) => Number(b) - Number(a)))
  })

  test('outcomes of the same moment are neither left out nor doubled between pages', async () => {
    const moment = '2024-05-02T12:00:00Z'
    const same = [await finishedAt(moment), await finishedAt(moment), await finishedAt(moment)]

    expect(await readAllPages({ states: ['completed'] }, 1)).toEqual(same.reverse())
  })

  test('jobs that finish or arrive between two pages do not shift the rest', async () => {
    const first = (await given().finishedJob('completed')).job_id
    const second = (await given().finishedJob('completed')).job_id
    const [top] = await page({ states: ['completed'] }, null, 1)
    await given().finishedJob('completed')

    expect(top).toMatchObject({ id: second })
    expect(await page({ states: ['completed'] }, top?.next, 5)).toMatchObject([{ id: first, next: null }])
  })

  test('an empty list is one row without a job', async () => {
    expect(await page({ states: ['failed'] })).toMatchObject([
      { id: null, next: null, is_full: true, searched_to: null },
    ])
  })

  test.each([
    'nonsense',
    'id',
    'id:-',
    'id:1:2:3',
    'running:-:1',
    "id:-:1'; drop table holdfast.job; --",
    'id:-:99999999999999999999',
  ])('a position of %j is refused', async (after) => {
    await expect(page({}, after)).rejects.toMatchObject({ code: 'JH005' })
  })

  test.each([0, -1, 201, null])('a limit of %s is refused', async (n) => {
    await expect(page({}, null, n as number)).rejects.toMatchObject({ code: 'JH005' })
  })

  test('a page that finds nothing in ten thousand jobs returns how far it searched, and the next page goes on from there', async () => {
    await ask(
      db.admin,
      `with made as (
         insert into holdfast.job (type, queue, priority, max_attempts, input, tags, created_at)
         select 'task', 'default', 5, 3, '{}', case when n = 1 then '{rare}'::text[] else '{}' end, holdfast.now()
           from generate_series(1, 12000) as n order by n
         returning id
       )
       insert into holdfast.outcome (job_id, token, run_at, finished_at, attempts, state)
       select m.id, 1, holdfast.now(), holdfast.now(), 1, 'completed' from made as m`,
    )
    const [first, ...none] = await page({ states: ['completed'], tags: ['rare'] })

    expect(none).toEqual([])
    expect(first).toMatchObject({ id: null, is_full: false })
    expect(first?.next).toMatch(/^finished:\d+:\d+$/)
    expect(first?.searched_to).toBeInstanceOf(Date)
    expect(await page({ states: ['completed'], tags: ['rare'] }, first?.next)).toMatchObject([
      { tags: ['rare'], next: null, is_full: true },
    ])
  })
})

describe('filters', () => {
  test('type, queue and tags are composable, in every state', async () => {
    const wish = { type: 'mail', queue: 'bulk', tags: ['a', 'b'] }
    const fits = [
      await given().pendingJob(wish),
      (await given().runningJob(wish)).job_id,
      (await given().finishedJob('completed', wish)).job_id,
    ].reverse()
    for (const other of [{ type: 'other' }, { queue: 'other' }, { tags: ['a'] }]) {
      await given().pendingJob({ ...wish, ...other })
      await given().runningJob({ ...wish, ...other })
      await given().finishedJob('completed', { ...wish, ...other })
    }
    const filter = { types: ['mail', 'post'], queues: ['bulk'], tags: ['b', 'a'] }

    expect(await ids(filter)).toEqual(fits)
    expect((await ids({ ...filter, states: ['pending', 'running', 'completed'] })).sort()).toEqual([...fits].sort())
  })

  test('of a key, a pipeline or a list of ids it shows the jobs by id, in the states asked for', async () => {
    const pipeline = 'c0ffee00-0000-4000-8000-000000000001'
    const one = (await given().finishedJob('failed', { key: 'k', pipeline_id: pipeline })).job_id
    const two = (await given().finishedJob('completed', { key: 'k', pipeline_id: pipeline })).job_id
    const other = (
      await given().finishedJob('failed', { key: 'k2', pipeline_id: 'c0ffee00-0000-4000-8000-000000000002' })
    ).job_id

    expect(await ids({ key: 'k' })).toEqual([two, one])
    expect(await readAllPages({ key: 'k' }, 1)).toEqual([two, one])
    expect(await ids({ pipeline_id: pipeline })).toEqual([two, one])
    expect(await ids({ key: 'k', states: ['failed'] })).toEqual([one])
    expect(await ids({ ids: [one, other, 999], states: ['failed'] })).toEqual([other, one])
    expect(await ids({ ids: [one, two], key: 'k2' })).toEqual([])
  })

  test('an error is found by a piece of its name or message, whatever its case', async () => {
    const lease = await given().runningJob()
    const error = { name: 'SmtpError', message: '451 Try Later 100%_' }
    await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [JSON.stringify([{ ...lease, error, permanent: true }])])
    await given().finishedJob('failed')

    for (const piece of ['smtperror', 'try later', '100%_']) {
      expect(await ids({ error: piece })).toEqual([lease.job_id])
      expect(await ids({ error: piece, states: ['failed'] })).toEqual([lease.job_id])
    }
    expect(await ids({ error: '%', states: ['completed', 'running', 'pending'] })).toEqual([])
  })

  test('a worker is found by what it runs and what it ran', async () => {
    const runs = (await given().runningJob()).job_id
    const ran = (await given().finishedJob('completed')).job_id
    await given().claimed(await given().pendingJob(), 'worker-2')

    expect(await ids({ worker: 'worker-1' })).toEqual([ran, runs])
    expect(await ids({ worker: 'worker-1', states: ['running'] })).toEqual([runs])
  })

  test.each([
    ['text', 'Bern', ['address', 'city']],
    ['number', '2026', ['year']],
    ['boolean', 'true', ['isDry']],
    ['element', 'b', ['list', '1']],
    ['object', '{"city": "Bern"}', ['address']],
  ])('an input is found by a %s in it', async (_kind, value, path) => {
    const input = { address: { city: 'Bern' }, year: 2026, isDry: true, list: ['a', 'b'] }
    const pending = await given().pendingJob({ input })
    const done = (await given().finishedJob('completed', { input })).job_id
    await given().pendingJob({ input: {} })
    const condition = { input: [{ path, value }] }

    expect(await ids(condition)).toEqual([done, pending])
    expect(await ids({ ...condition, states: ['completed', 'pending'] })).toEqual([pending, done])
  })

  test('time measures finished jobs by their end, running ones by their claim, pending ones by their beginning', async () => {
    const client = await db.connect()
    const made = async (moment: string) => {
      await setClock(client, moment)
      const done = (await givenIn(client).finishedJob('completed')).job_id
      return [done, (await givenIn(client).runningJob()).job_id, await givenIn(client).pendingJob()]
    }
    const early = await made('2026-03-01T12:00:00Z')
    const late = await made('2026-03-02T12:00:00Z')

    const since = await ids({ since: '2026-03-02T00:00:00Z' })
    const until = await ids({ until: '2026-03-02T12:00:00Z' })

    expect(since.sort()).toEqual(late.sort())
    expect(until.sort()).toEqual(early.sort())
    expect(await ids({ since: '2026-03-02T12:00:00Z', until: '2026-03-02T12:00:00Z' })).toEqual([])
  })

  test('a span of time ends now', async () => {
    const client = await db.connect()
    await setClock(client, '2026-03-01T12:00:00Z')
    const { job_id } = await givenIn(client).finishedJob('completed')
    await setClock(client, '2026-03-01T12:59:00Z')
    const found = (ms: number) =>
      askList(client, `select id from holdfast.list_jobs_v1(jsonb_build_object('since_ms', $1::int))`, [ms])

    expect(await found(3_600_000)).toEqual([job_id])
    expect(await found(60_000)).toEqual([null])
  })

  test.each([
    ['[]', 'a list'],
    ['null', 'null'],
    ['{"colour": "red"}', 'an unknown part'],
    ['{"ids": ["x"]}', 'an id that is no number'],
    ['{"states": "failed"}', 'a text for a list'],
    ['{"pipeline_id": "1"}', 'a pipeline that is no UUID'],
    ['{"since": "soon"}', 'a moment that is none'],
    ['{"since_ms": "x"}', 'a span that is none'],
    ['{"input": {"a": 1}}', 'conditions that are no list'],
    ['{"ids": [99999999999999999999]}', 'an id beyond all numbers'],
  ])('%s is refused: %s', async (filter) => {
    await expect(ask(db.pool, 'select * from holdfast.list_jobs_v1($1)', [filter])).rejects.toMatchObject({
      code: 'JH005',
    })
  })

  test('quotes, percent signs and backslashes are searched as they are', async () => {
    for (const hostile of ["'; drop table holdfast.job; --", '%', '_', '\\', '"', '<script>']) {
      const id = await given().pendingJob({ tags: [hostile], input: { a: hostile } })

      expect(await ids({ tags: [hostile] })).toEqual([id])
      expect(await ids({ input: [{ path: ['a'], value: hostile }] })).toEqual([id])
      expect(await ids({ types: [hostile], error: hostile, worker: hostile })).toEqual([])
    }
  })
})

test('a row says what a list shows, without input and output', async () => {
  const lease = await given().runningJob({ key: 'k', tags: ['t'], priority: 2 })
  const parked = await given().pendingJob({ key: 'k' })
  await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 5)`)
  await ask(db.pool, `select holdfast.report_progress($1, $2, $3, 0.5, 'half')`, [
    lease.job_id,
    lease.token,
    lease.lease_id,
  ])

  const [waiting, running] = await page()

  expect(waiting).toMatchObject({ id: parked, state: 'pending', parked: true, locked_by: null })
  expect(running).toMatchObject({
    id: lease.job_id,
    type: 'task',
    queue: 'default',
    priority: 2,
    state: 'running',
    key: 'k',
    key_policy: 'exclusive',
    attempts: 1,
    max_attempts: 3,
    progress: 0.5,
    status_message: 'half',
    locked_by: 'worker-1',
    parked: false,
    tags: ['t'],
    finished_at: null,
  })
  expect(Object.keys(running ?? {})).not.toEqual(expect.arrayContaining(['input']))
})

test('a long error is shown by its beginning', async () => {
  const lease = await given().runningJob()
  const error = { name: 'E', message: 'x'.repeat(5000) }
  await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [JSON.stringify([{ ...lease, error, permanent: true }])])

  const row = await askRow(db.pool, 'select error_name, length(error_message) from holdfast.list_jobs_v1()')

  expect(row).toEqual({ error_name: 'E', length: 500 })
})
