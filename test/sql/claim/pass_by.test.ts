// pass_by: a claim of many starts behind what others are claiming, and one that may behind the backlog of a held key, without
// walking over it.
import { beforeEach, expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const N = 200

const enqueue = (count: number, type = 'task', queue = 'default', key: string | null = null) =>
  askList<string>(
    db.pool,
    `select r.id from holdfast.enqueue_jobs(
       (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('type', $2::text, 'queue', $3::text, 'key', $4::text)))
          from generate_series(1, $1)), '{}', 'never') as r(id)
      order by r.id`,
    [count, type, queue, key],
  )

interface Position {
  readonly priority: number
  readonly run_at: string
  readonly job_id: string
}
const START: Position = { priority: 0, run_at: '-infinity', job_id: '0' }

async function claim(session: Session, n: number, from = START, types = '{task}', passesCrowds = false) {
  const { jobs, ...position } = await askRow<Position & { jobs: { id: string } | null }>(
    session,
    `select jobs, priority, run_at::text, job_id
       from holdfast.claim_batch_v1('w', 'default', $5, $1, $2, $3, $4, null, $6)`,
    [n, from.priority, from.run_at, from.job_id, types, passesCrowds],
  )
  return { ids: jobs?.id.split(',') ?? [], position }
}

/** Entries of the claim index that the claim met. */
async function metBy(session: Session, work: () => Promise<unknown>): Promise<number> {
  const entries = `select pg_stat_get_xact_tuples_returned('holdfast.ready_claim'::regclass)::int`
  const before = await askValue<number>(session, entries)
  await work()
  return (await askValue<number>(session, entries)) - before
}

let mine: Awaited<ReturnType<typeof db.connect>>
let other: typeof mine
beforeEach(async () => {
  mine = await db.connect('admin')
  other = await db.connect('admin')
  for (const each of [mine, other]) await each.query('begin')
})

test('behind a position it meets few of the thousands that others are claiming', async () => {
  const all = await enqueue(6000)
  const { position } = await claim(db.pool, 1)
  expect((await claim(other, 4000, position)).ids).toHaveLength(4000)

  let ids: string[] = []
  const met = await metBy(mine, async () => {
    ids = (await claim(mine, N, position)).ids
  })

  expect(ids).toEqual(all.slice(4001, 4001 + N))
  expect(met).toBeLessThanOrEqual(N + 64)
})

test('few jobs are not worth it: a claim of a hundred walks', async () => {
  await enqueue(1000)
  const { position } = await claim(db.pool, 1)
  await claim(other, 500, position)

  expect(await metBy(mine, () => claim(mine, 100, position))).toBeGreaterThanOrEqual(600)
})

test('finds its way between the jobs of other queues', async () => {
  const due: string[] = []
  for (let i = 0; i < 30; i += 1) {
    due.push(...(await enqueue(100)))
    await enqueue(100, 'task', 'elsewhere')
  }
  const { position } = await claim(db.pool, 1)
  await claim(other, 2000, position)

  let ids: string[] = []
  const met = await metBy(mine, async () => {
    ids = (await claim(mine, N, position)).ids
  })

  expect(ids).toEqual(due.slice(2001, 2001 + N))
  expect(met).toBeLessThanOrEqual(N + 200)
})

test('what nobody claims is not passed by, though others claim behind it', async () => {
  const all = await enqueue(3000)
  const { position } = await claim(db.pool, 1)
  await ask(other, 'select from holdfast.ready where job_id = any ($1) for update', [all.slice(1500)])

  expect((await claim(mine, N, position)).ids).toEqual(all.slice(1, 1 + N))
})

test('one who works for other types does not lead the way', async () => {
  const [tasks, others]: [string[], string[]] = [await enqueue(1), []]
  for (let i = 0; i < 500; i += 1) {
    tasks.push(...(await enqueue(1)))
    others.push(...(await enqueue(1, 'other')))
  }
  const { position } = await claim(db.pool, 1)
  expect((await claim(other, 500, position, '{other}')).ids).toEqual(others)

  expect((await claim(mine, N, position)).ids).toEqual(tasks.slice(1, 1 + N))
})

test('a look from the start meets what was passed by', async () => {
  const all = await enqueue(2000)
  const { position } = await claim(db.pool, 1)
  const free = all[50] as string
  await ask(other, 'select from holdfast.ready where job_id = any ($1) and job_id <> $2 for update', [
    all.slice(0, 1500),
    free,
  ])

  expect((await claim(mine, N, position)).ids).toEqual(all.slice(1500, 1500 + N))
  expect((await claim(mine, N)).ids[0]).toBe(free)
})

/** So many jobs that wait for a key that is held, and a position before them. */
async function crowd(count: number) {
  await enqueue(1, 'task', 'default', 'k')
  const { ids, position } = await claim(db.pool, 1)
  expect(ids).toHaveLength(1)
  await crowdOn(count)
  return position
}
const crowdOn = (count: number) => enqueue(count, 'task', 'default', 'k')
const passing = (n: number, from: Position) => claim(mine, n, from, '{task}', true)

test('a look that may passes by the backlog of a held key, and meets few of it', async () => {
  const position = await crowd(6000)
  const due = await enqueue(20)

  let ids: string[] = []
  const met = await metBy(mine, async () => {
    ids = (await passing(10, position)).ids
  })

  expect(ids).toEqual(due.slice(0, 10))
  expect(met).toBeLessThanOrEqual(200)
  expect(await metBy(mine, () => claim(mine, 10, position))).toBeGreaterThanOrEqual(5000)
})

test('the end of a backlog is found also where nothing is due behind it', async () => {
  const position = await crowd(6000)
  await ask(
    db.pool,
    `select count(*) from holdfast.enqueue_jobs(
       (select jsonb_agg('{"type": "task", "run_at": "2999-01-01T00:00:00Z"}'::jsonb) from generate_series(1, 2000)), '{}', 'never')`,
  )

  expect(await metBy(mine, () => passing(10, position))).toBeLessThanOrEqual(200)
})

test('what stands in a backlog that was passed by is met by a look that walks', async () => {
  const position = await crowd(3000)
  const [inside] = await enqueue(1)
  await crowdOn(3000)
  const due = await enqueue(20)

  expect((await passing(10, position)).ids).toEqual(due.slice(0, 10))
  expect((await claim(mine, 10)).ids[0]).toBe(inside)
})

test('where others stand among the jobs of a held key, they are claimed and not passed by', async () => {
  const position = await crowd(1)
  const due: string[] = []
  for (let i = 0; i < 300; i += 1) {
    due.push(...(await enqueue(2)))
    await crowdOn(9)
  }

  expect((await passing(10, position)).ids).toEqual(due.slice(0, 10))
})
