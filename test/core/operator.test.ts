// What an operator looks at and does in bulk, on both engines.
import { afterEach, expect, test } from 'vitest'
import { defineJob, type Holdfast, type JobDefinition } from '../../src/index.js'
import { BulkWorker } from '../../src/maintenance/bulk-worker.js'
import { StatisticsCounter } from '../../src/maintenance/statistics-counter.js'
import { Store } from '../../src/store/store.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })
const broken = defineJob({
  type: 'broken',
  retry: { attempts: 1 },
  run() {
    throw new Error('out of order')
  },
})
const jobs = [echo, broken] as const

/** Runs the job by its id, whatever comes of it. */
async function ran(holdfast: Holdfast<typeof jobs>, job: JobDefinition, input: unknown = 1): Promise<string> {
  const { id } = await holdfast.enqueue(job, input as never)
  expect(await holdfast.runJob(id)).toBe(true)
  return id
}

const stores: Store[] = []
afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())))

/** What a bulk worker and a statistics counter take, without a worker. */
function maintained() {
  const { pglite, url } = bench.database
  const store = new Store({ database: pglite ?? url, migrate: false })
  stores.push(store)
  const onFault = (doing: string, error: unknown) => {
    throw new Error(`${doing} failed`, { cause: error })
  }
  return [store, { onFault }] as const
}

test('jobs are listed by a filter as text or as an object, page by page', async () => {
  const holdfast = bench.open({ jobs })
  const done = await ran(holdfast, echo)
  const failed = await ran(holdfast, broken)
  const { id: pending } = await holdfast.enqueue(echo, { year: 2026 }, { queue: 'bulk', tags: ['t'] })
  const { operator } = holdfast

  const first = await operator.jobs({ limit: 2 })
  const second = await operator.jobs({ limit: 2, after: first.next as string })

  expect([...first.rows, ...second.rows].map((row) => row.id)).toEqual([pending, failed, done])
  expect(second.next).toBeNull()
  expect((await operator.jobs({ filter: 'state:failed error:"out of" since:1h' })).rows).toMatchObject([
    { id: failed, state: 'failed', error: { name: 'Error', message: 'out of order' }, finishedAt: expect.any(Date) },
  ])
  expect((await operator.jobs({ filter: 'input.year=2026 queue:bulk tag:t' })).rows).toMatchObject([{ id: pending }])
  expect(await operator.jobs({ filter: { states: ['superseded'] } })).toEqual({
    rows: [],
    next: null,
    isFull: true,
    searchedTo: null,
  })
  expect(await operator.count('state:failed,completed')).toEqual({ count: 2, isCapped: false })
})

test.each([
  { limit: 0 },
  { limit: 201 },
  { limit: 1.5 },
  { after: 'x' },
  { filter: 'colour:red' },
  { filter: { ids: ['x'] } },
])('a query of %j is refused', async (query) => {
  const { operator } = bench.open({ jobs })

  await expect(operator.jobs(query)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test('one job is shown with its attempts and what was done to it by hand', async () => {
  const holdfast = bench.open({ jobs })
  const id = await ran(holdfast, broken)
  const before = await holdfast.operator.job(id)
  await holdfast.retry(id, { actor: 'ada' })
  const after = await holdfast.operator.job(id)

  expect(before).toMatchObject({ job: { id, state: 'failed' }, audit: [], lastLog: '0' })
  expect(after).toMatchObject({
    job: { id, state: 'pending' },
    attempts: [{ attempt: 1, verdict: 'failed', error: { message: 'out of order' }, endedAt: expect.any(Date) }],
    audit: [{ actor: 'ada', action: 'retry', jobId: id, details: { from: 'failed' } }],
  })
  expect(after?.version).not.toBe(before?.version)
  expect(await holdfast.operator.versions([id, 999_999])).toMatchObject([{ id, version: after?.version, lastLog: '0' }])
  expect(await holdfast.operator.job(999_999)).toBeUndefined()
})

test('a job enqueued by hand says who did it', async () => {
  const holdfast = bench.open({ jobs })
  const { id } = await holdfast.enqueue(echo, 1, { actor: 'ada' })
  await holdfast.enqueue(echo, 2)
  await holdfast.pause('bulk', { actor: 'grace' })

  const { rows, next } = await holdfast.operator.audit()

  expect(rows).toMatchObject([
    { actor: 'grace', action: 'pause', jobId: null },
    { actor: 'ada', action: 'enqueue', jobId: id },
  ])
  expect(next).toBeNull()
  expect((await holdfast.operator.audit({ jobId: id, actor: 'ada', action: 'enqueue', limit: 1 })).rows).toHaveLength(1)
})

test('queues, workers, keys and what is alive are shown', async () => {
  const holdfast = bench.open({ jobs })
  await holdfast.enqueue(echo, 1, { queue: 'later', delay: '1h' })
  await holdfast.enqueue(echo, 1, { key: { year: 2026 }, delay: '1h' })
  await holdfast.start()
  const none = { count: 0, isCapped: false }
  const one = { count: 1, isCapped: false }

  const { rows: queues } = await holdfast.operator.queues()
  const { rows: workers } = await holdfast.operator.workers()

  expect(queues.find(({ name }) => name === 'later')).toEqual({
    name: 'later',
    pausedAt: null,
    pausedBy: null,
    pending: one,
    due: none,
    parked: none,
    waiting: none,
    running: none,
    oldestDueAt: null,
    liveWorkers: 0,
  })
  expect(queues.find(({ name }) => name === 'default')).toMatchObject({ liveWorkers: 1 })
  expect(workers).toMatchObject([
    { queues: ['default'], types: ['echo', 'broken'], running: none, jobs: [], pid: process.pid },
  ])
  expect(await holdfast.operator.key({ year: 2026 })).toMatchObject({ holder: null, current: null, pending: one })
  expect(await holdfast.operator.key('unheard of')).toBeUndefined()
  expect(await holdfast.operator.live()).toMatchObject({
    pending: { count: 2, isCapped: false },
    running: none,
    workers: 1,
  })
})

test('a bulk operation is worked off by any worker, with progress', async () => {
  const holdfast = bench.open({ jobs })
  const ids = [await ran(holdfast, broken), await ran(holdfast, broken)]
  const { bulk } = holdfast.operator

  const asked = await bulk.start({ operation: 'retry', filter: 'state:failed type:broken', actor: 'ada' })
  await new BulkWorker(...maintained()).runOnce()

  expect(asked).toMatchObject({ state: 'open', expected: { count: 2, isCapped: false }, done: 0, askedBy: 'ada' })
  expect(await bulk.find(asked.id)).toMatchObject({ state: 'completed', done: 2, skipped: 0, failed: 0, error: null })
  expect((await bulk.list()).rows).toMatchObject([{ id: asked.id }])
  expect(await bulk.cancel(asked.id)).toBe(false)
  for (const id of ids) expect(await holdfast.find(id)).toMatchObject({ state: 'pending' })
})

test('a bulk operation can be cancelled before anyone takes it up', async () => {
  const holdfast = bench.open({ jobs })
  const { id: jobId } = await holdfast.enqueue(echo, 1)
  const { bulk } = holdfast.operator
  const { id } = await bulk.start({ operation: 'cancel', filter: { states: ['pending'] }, reason: 'a mistake' })

  expect(await bulk.cancel(id, { actor: 'ada' })).toBe(true)
  await new BulkWorker(...maintained()).runOnce()

  expect(await bulk.find(id)).toMatchObject({ state: 'cancelled', done: 0 })
  expect(await holdfast.find(jobId)).toMatchObject({ state: 'pending' })
})

test('what has ended appears in the statistics', async () => {
  const holdfast = bench.open({ jobs })
  await ran(holdfast, echo)
  await ran(holdfast, broken)
  // As if it had been a while ago: statistics are counted a few seconds behind.
  await bench.look(
    `update holdfast.outcome set finished_at = finished_at - interval '1 minute', locked_at = locked_at - interval '1 minute', run_at = run_at - interval '1 minute'`,
  )
  await bench.look(
    `update holdfast.attempt set ended_at = ended_at - interval '1 minute', started_at = started_at - interval '1 minute'`,
  )
  const counting = new StatisticsCounter(...maintained())
  const all = { completed: 1, failed: 1, cancelled: 0, superseded: 0, attempt_failed: 1, attempt_lost: 0 }
  // Nothing is counted while an older transaction is open anywhere on the server.
  await until(async () => {
    await counting.runOnce()
    return (await holdfast.operator.stats()).total.counts.failed > 0
  })
  expect((await holdfast.operator.stats()).total.counts).toEqual(all)
  const { total, points, countedTo, stepMs } = await holdfast.operator.stats({
    since: '2h',
    step: '10m',
    types: ['echo'],
  })

  expect(stepMs).toBe(600_000)
  expect(points.length).toBeGreaterThanOrEqual(12)
  expect(total.counts).toMatchObject({ completed: 1, failed: 0 })
  expect(total.run).toMatchObject({ count: 1, p50Ms: expect.any(Number) })
  expect(countedTo).toBeInstanceOf(Date)
  expect((await holdfast.operator.stats({ queues: ['none'] })).total.wait).toMatchObject({ count: 0, meanMs: null })
})

test.each([{ step: '30s' }, { since: '40d' }, { since: '1h', until: '2h' }, { since: '7d', step: '1m' }] as const)(
  'statistics of %j are refused',
  async (query) => {
    await expect(bench.open({ jobs }).operator.stats(query)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  },
)
