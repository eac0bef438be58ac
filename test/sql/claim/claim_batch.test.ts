// claim_batch: what a worker gets of a claim, column by column, and where it may go on.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const RUN_AT = '2021-01-01T00:00:00Z'

interface Position {
  priority: number
  run_at: string
  job_id: string
}
const START: Position = { priority: 0, run_at: '-infinity', job_id: '0' }

async function claimBatch(n: number, from = START, session: Parameters<typeof ask>[0] = db.pool) {
  const row = await askRow<Position & { jobs: { id: string; turn: number[] | null } | null; has_more: boolean }>(
    session,
    `select jobs, priority, run_at::text, job_id, has_more
       from holdfast.claim_batch_v1('w', 'default', '{task,other}', $1, $2, $3, $4)`,
    [n, from.priority, from.run_at, from.job_id],
  )
  const { jobs, has_more: hasMore, ...position } = row
  const inOrder = jobs?.id.split(',') ?? []
  const ids = jobs?.turn?.map((place) => inOrder[place]) ?? inOrder
  return { jobs, ids, position, hasMore }
}

test('gives the columns of its jobs, by id what is not as usual, and whose turn it is when the order of ids is another one', async () => {
  await ask(
    db.pool,
    `select holdfast.put_job_types_v1('[{"type": "other", "queue": "default", "priority": 5, "max_attempts": 3,
      "lease_seconds": 90, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  )
  const pipeline_id = '7d444840-9dc0-11d1-b245-5ffdce74fad2'
  const last = await given().pendingJob({ input: [1], pipeline_id, tags: ['x'] })
  const keyed = await given().pendingJob({ key: 'k', run_at: RUN_AT })
  const lease = await given().claimed(last)
  await ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...lease, delay_ms: 0 })])
  const first = await given().pendingJob({ type: 'other', priority: 2, max_attempts: 7, input: { a: 'b' } })

  const { jobs } = await claimBatch(10)

  expect(jobs).toEqual({
    lease_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    usual: {
      type: 'other',
      queue: 'default',
      priority: 2,
      token: '1',
      attempts: 1,
      max_attempts: 7,
      lease_seconds: 90,
    },
    id: `${last},${keyed},${first}`,
    turn: [2, 1, 0],
    due_ms: [expect.any(Number), Date.parse(RUN_AT), expect.any(Number)],
    input: [[1], {}, { a: 'b' }],
    type: { [keyed]: 'task', [last]: 'task' },
    queue: null,
    priority: { [keyed]: 5, [last]: 5 },
    token: { [last]: '2' },
    attempts: { [last]: 2 },
    max_attempts: { [keyed]: 3, [last]: 3 },
    lease_seconds: { [keyed]: 30, [last]: 30 },
    key: { [keyed]: 'k' },
    pipeline_id: { [last]: pipeline_id },
    tags: { [last]: ['x'] },
    trace: null,
    facts: null,
  })
})

test('a job that was claimed before is told with its own token and attempts among those that were not', async () => {
  const [first, again] = [await given().pendingJob(), await given().pendingJob()]
  const lease = await given().claimed(again)
  await ask(db.pool, 'select holdfast.release_jobs($1)', [settlement(lease)])

  const { jobs, ids } = await claimBatch(10)

  expect(ids).toEqual([first, again])
  expect(jobs).toMatchObject({ usual: { token: '1', attempts: 1 }, token: { [again]: '2' }, attempts: null })
})

test('the lease that it gives settles its jobs', async () => {
  const id = await given().pendingJob()
  const { jobs } = await claimBatch(1)
  const lease = { job_id: id, token: '1', lease_id: (jobs as unknown as { lease_id: string }).lease_id }

  expect(await ask(db.pool, 'select settled from holdfast.complete_jobs($1)', [settlement(lease)])).toEqual([
    { settled: true },
  ])
})

test('a lease id that the caller made is that of its jobs', async () => {
  await given().pendingJob()
  await given().pendingJob({ key: 'k' })
  const leaseId = randomUUID()
  const claim = `select jobs ->> 'lease_id' from holdfast.claim_batch_v1('w', 'default', '{task}', 9, p_lease_id => $1)`

  expect(await askValue(db.pool, claim, [leaseId])).toBe(leaseId)
  expect(await askList(db.admin, 'select lease_id from holdfast.lease')).toEqual([leaseId, leaseId])
  await expect(askValue(db.pool, claim, ['mine'])).rejects.toThrow('invalid input syntax for type uuid: "mine"')
})

test('a lease id that was used before does not let the former claim settle what is held again', async () => {
  const id = await given().pendingJob()
  const claim = `select jobs -> 'usual' ->> 'token' from holdfast.claim_batch_v1('w', 'default', '{task}', 9, p_lease_id => $1)`
  const lease = { job_id: id, lease_id: randomUUID() }
  const stale = { ...lease, token: await askValue(db.pool, claim, [lease.lease_id]) }
  await ask(db.pool, 'select holdfast.release_jobs($1)', [settlement(stale)])
  await askValue(db.pool, claim, [lease.lease_id])

  expect(await ask(db.pool, 'select settled from holdfast.complete_jobs($1)', [settlement(stale)])).toEqual([
    { settled: false },
  ])
})

test('gives null when there is nothing to claim, and the position that was given', async () => {
  expect(await claimBatch(10)).toEqual({ jobs: null, ids: [], position: START, hasMore: false })
})

test('goes on behind the position it is given', async () => {
  const [behind, at] = [await given().pendingJob({ run_at: RUN_AT }), await given().pendingJob({ run_at: RUN_AT })]
  const after = await given().pendingJob({ run_at: RUN_AT })
  const later = await given().pendingJob({ run_at: '2021-01-02T00:00:00Z' })
  const urgent = await given().pendingJob({ priority: 0 })
  const lowest = await given().pendingJob({ priority: 6, run_at: '2020-01-01T00:00:00Z' })

  expect((await claimBatch(9, { priority: 5, run_at: RUN_AT, job_id: at })).ids).toEqual([after, later, lowest])
  expect((await claimBatch(9)).ids).toEqual([urgent, behind, at])
})

test('the position that it gives is that of the last job it met', async () => {
  await given().pendingJob({ run_at: RUN_AT })
  const second = await given().pendingJob({ run_at: RUN_AT, key: 'k' })
  const third = await given().pendingJob({ run_at: RUN_AT })

  const { position } = await claimBatch(2)

  expect(position).toMatchObject({ priority: 5, job_id: second })
  expect((await claimBatch(2, position)).ids).toEqual([third])
})

test('behind a position a lock younger than an open transaction is not tried: the look from the start finds its job', async () => {
  const [first, marked, free] = [await given().pendingJob(), await given().pendingJob(), await given().pendingJob()]
  const { ids, position } = await claimBatch(1)
  const [open, locker] = [await db.connect('admin'), await db.connect('admin')]
  await open.query('begin')
  await ask(open, 'select pg_current_xact_id()')
  await lockAndLetGo(locker, marked)

  expect(ids).toEqual([first])
  expect((await claimBatch(9, position)).ids).toEqual([free])
  expect((await claimBatch(9)).ids).toEqual([marked])
  await open.query('rollback')
})

test('behind a position a job is claimed whose lock ended before all that is open began', async () => {
  const [, marked] = [await given().pendingJob(), await given().pendingJob()]
  const { position } = await claimBatch(1)
  await lockAndLetGo(await db.connect('admin'), marked)

  // Whatever else is open in the server ends some time.
  await expect.poll(async () => (await claimBatch(9, position)).ids, { timeout: 20_000 }).toEqual([marked])
})

/** The row names the transaction that locked it also when that is over. */
async function lockAndLetGo(session: Awaited<ReturnType<typeof db.connect>>, id: string) {
  await session.query('begin')
  await ask(session, 'select from holdfast.ready where job_id = $1 for update', [id])
  await session.query('rollback')
}

/** A job of key k that has completed, and the next of it, un-parked at a place that the position has passed. */
async function unparkedBehind() {
  const held = await given().pendingJob({ run_at: RUN_AT, key: 'k' })
  const next = await given().pendingJob({ run_at: RUN_AT, key: 'k' })
  await given().pendingJob()
  const { jobs, ids, position } = await claimBatch(2)
  const lease = { job_id: held, token: '1', lease_id: (jobs as unknown as { lease_id: string }).lease_id }
  const complete = () => ask(db.pool, 'select from holdfast.complete_jobs($1)', [settlement(lease)])
  expect(ids).toHaveLength(2)
  expect(ids[0]).toBe(held)
  return { next, position, complete }
}

test('behind a position a claim takes the job of a key that has been freed, and then what is behind the position', async () => {
  const { next, position, complete } = await unparkedBehind()
  const last = await given().pendingJob()
  await complete()

  expect((await claimBatch(2, position)).ids).toEqual([next, last])
})

test('before its key is free such a job is not taken, nor from a paused queue', async () => {
  const { next, position, complete } = await unparkedBehind()
  expect((await claimBatch(2, position)).ids).toEqual([])
  await complete()

  await ask(db.pool, `select holdfast.pause_queue('default')`)
  expect((await claimBatch(2, position)).ids).toEqual([])
  await ask(db.pool, `select holdfast.resume_queue('default')`)

  expect((await claimBatch(2, position)).ids).toEqual([next])
})

test('a job that was un-parked waits its turn when it comes after the position', async () => {
  const held = await given().runningJob({ key: 'k' })
  const before = await given().pendingJob({ key: 'k', priority: 1 })
  const [first, second] = [await given().pendingJob({ priority: 2 }), await given().pendingJob({ priority: 2 })]
  await given().pendingJob({ key: 'k', priority: 3 })
  const { ids, position } = await claimBatch(1)
  await ask(db.pool, 'select from holdfast.complete_jobs($1)', [settlement(held)])
  await ask(db.pool, 'select from holdfast.complete_jobs($1)', [settlement(await given().claimed(before))])

  expect(ids).toEqual([first])
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.ready where unparked')).toBe(1)
  expect((await claimBatch(1, position)).ids).toEqual([second])
})

test('a job that was un-parked and finds its key taken again is parked once more', async () => {
  const { next, position, complete } = await unparkedBehind()
  await complete()
  const taken = await given().pendingJob({ key: 'k' })
  await ask(db.pool, 'select holdfast.claim_job($1, $2)', [taken, 'w'])

  expect((await claimBatch(2, position)).ids).toEqual([])
  expect(await askRow(db.admin, 'select parked, unparked from holdfast.ready where job_id = $1', [next])).toEqual({
    parked: true,
    unparked: false,
  })
})

test('the position stays before a job whose key another transaction has locked', async () => {
  const held = await given().pendingJob({ run_at: RUN_AT, key: 'k' })
  await given().claimed(held)
  const shut = await given().pendingJob({ run_at: RUN_AT, key: 'k' })
  const free = await given().pendingJob({ run_at: RUN_AT })
  const locker = await db.connect('admin')
  await locker.query('begin')
  await ask(locker, `select from holdfast.job_key where key = 'k' for update`)

  const { ids, position } = await claimBatch(2)
  await locker.query('commit')

  expect(ids).toEqual([free])
  expect(BigInt(position.job_id)).toBeLessThan(BigInt(shut))
})

async function backlogOfAHeldKey(jobs: number) {
  const held = await given().pendingJob({ run_at: RUN_AT, key: 'k' })
  await given().claimed(held)
  await ask(
    db.pool,
    `select count(*) from holdfast.enqueue_jobs(
       (select jsonb_agg('{"type": "task", "key": "k"}'::jsonb) from generate_series(1, $1::int)), '{}', 'never')`,
    [jobs],
  )
}
const parked = () => askValue(db.admin, 'select count(*)::int from holdfast.ready where parked')

test.each([
  [10, 6],
  [2000, 3],
])(
  'a job behind 5,000 of a held key is claimed at once by a claim of %i, and at most %i claims without jobs park the others',
  async (n, most) => {
    await backlogOfAHeldKey(5000)
    const free = await given().pendingJob()

    expect(await claimBatch(n)).toMatchObject({ ids: [free], hasMore: false })
    let claims = 1
    while ((await claimBatch(n)).hasMore && claims < 20) claims += 1

    expect(claims).toBeLessThanOrEqual(most)
    expect(await parked()).toBe(5000)
  },
)

test('a paused queue gives nothing', async () => {
  await given().pendingJob()
  await ask(db.pool, `select holdfast.pause_queue('default')`)

  expect((await claimBatch(1)).ids).toEqual([])
})

test('a repeatable read transaction is refused', async () => {
  const client = await db.connect()
  await client.query('begin isolation level repeatable read')

  await expect(claimBatch(1, START, client)).rejects.toMatchObject({ code: 'JH006' })
})
