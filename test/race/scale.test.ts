// What keyed jobs cost the claims of others, in pages read; and that enqueueing a key waits for nobody.
import { expect, test } from 'vitest'
import { ask, askList, askValue, type Session } from '../support/ask.js'
import { pidOf } from '../support/blocked.js'
import { givenIn } from '../support/given.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const MANY = 100_000
const CLAIM = `select * from holdfast.claim_jobs('w', '{default}', '{task}', 1)`

/** Due jobs of the default priority, with the key that `key` makes of n. */
async function backlog(key: string): Promise<void> {
  await insertJobs(db.admin, key)
  await ask(db.admin, 'vacuum analyze holdfast.ready')
}

async function insertJobs(session: Session, key: string): Promise<void> {
  await ask(
    session,
    `with made as (
       insert into holdfast.job (type, queue, priority, max_attempts, key, key_policy, input, created_at)
       select 'task', 'default', 5, 3, ${key}, case when ${key} is not null then 'exclusive' end, '{}', clock_timestamp()
         from generate_series(1, $1) as n
       returning *
     )
     insert into holdfast.ready (job_id, run_at, priority, max_attempts, type, queue, key, key_policy, rank)
     select m.id, m.created_at, 5, 3, m.type, m.queue, m.key, m.key_policy, case when m.key is not null then m.id end
       from made as m`,
    [MANY],
  )
}

/** Pages that one claim of one job reads, at its best: plans are made at first. It is undone. */
async function pagesOfClaim(session: Session): Promise<number> {
  const pages: number[] = []
  for (let i = 0; i < 5; i += 1) {
    await ask(session, 'begin')
    const [plan] = await askList<[{ Plan: Record<string, number> }]>(
      session,
      `explain (analyze, buffers, format json) ${CLAIM}`,
    )
    await ask(session, 'rollback')
    pages.push((plan?.[0].Plan['Shared Hit Blocks'] ?? 0) + (plan?.[0].Plan['Shared Read Blocks'] ?? 0))
  }
  expect(Math.min(...pages)).toBeGreaterThan(0)
  return Math.min(...pages)
}

async function pagesOfUrgentClaim(): Promise<number> {
  const urgent = await givenIn(db.pool).pendingJob({ priority: 1 })
  const session = await db.connect('admin')
  const pages = await pagesOfClaim(session)
  expect(await askList(session, CLAIM)).toEqual([urgent])
  return pages
}

test('a hundred thousand keys with a job each cost the claim of an urgent job no more than jobs without a key', async () => {
  const empty = await pagesOfClaim(await db.connect('admin'))
  await backlog('null')
  const plain = await pagesOfUrgentClaim()
  await ask(db.admin, 'truncate holdfast.ready, holdfast.lease, holdfast.job')
  await backlog(`'k' || n`)
  const keyed = await pagesOfUrgentClaim()

  console.log(
    `pages per claim: empty queue ${empty}, beside 100,000 jobs without a key ${plain}, beside 100,000 keys ${keyed}`,
  )
  expect(keyed).toBeLessThanOrEqual(3 * plain)
})

test('statistics that call a full table empty do not make a claim read all of it', async () => {
  const session = await db.connect('admin')
  await backlog('null')
  const plain = await pagesOfUrgentClaim()
  await ask(db.admin, 'truncate holdfast.ready, holdfast.lease, holdfast.job')

  await ask(session, 'begin')
  await insertJobs(session, 'null')
  await ask(db.admin, 'analyze holdfast.job, holdfast.ready, holdfast.lease')
  await ask(session, 'commit')
  const believed = await askList(
    db.admin,
    `select reltuples from pg_class where oid in ('holdfast.job'::regclass, 'holdfast.ready'::regclass)`,
  )
  const misled = await pagesOfUrgentClaim()

  expect(believed).toEqual([0, 0])
  expect(misled).toBeLessThanOrEqual(3 * plain)
})

/** Pages that a batch of a hundred reads and writes, for each of its jobs: first claimed, then completed. */
async function pagesOfBatch(session: Session): Promise<{ claim: number; complete: number }> {
  const N = 100
  const touched = async (statement: string, values: unknown[] = []) => {
    const [plan] = await askList<[{ Plan: Record<string, number> }]>(
      session,
      `explain (analyze, buffers, format json) ${statement}`,
      values,
    )
    return ((plan?.[0].Plan['Shared Hit Blocks'] ?? 0) + (plan?.[0].Plan['Shared Read Blocks'] ?? 0)) / N
  }
  const claim = await touched(`select * from holdfast.claim_batch_v1('w', 'default', '{task}', ${N})`)
  const ids = await askList<string>(session, 'select job_id from holdfast.lease')
  const leaseId = await askValue(session, 'select distinct lease_id from holdfast.lease')
  expect(ids).toHaveLength(N)
  const complete = await touched(
    `select holdfast.complete_plain_jobs_v1('{${ids}}', array[${N}], array[1::bigint], array['${leaseId}'::uuid])`,
  )
  expect(await ask(session, 'select from holdfast.lease')).toEqual([])
  return { claim, complete }
}

test('a batch costs each of its jobs a few pages, whatever statistics say of the tables', async () => {
  const session = await db.connect('admin')
  // The newest are claimed first, so that a walk from the beginning of a table would be seen.
  const hasten = `update holdfast.ready set run_at = run_at - interval '1 day'
                   where job_id > (select max(job_id) - 2000 from holdfast.ready)`
  await backlog('null')
  await ask(session, hasten)
  await pagesOfBatch(session)
  const known = await pagesOfBatch(session)
  await ask(db.admin, 'truncate holdfast.ready, holdfast.lease, holdfast.job')

  const misledSession = await db.connect('admin')
  await ask(session, 'begin')
  await insertJobs(session, 'null')
  await ask(db.admin, 'analyze holdfast.job, holdfast.ready, holdfast.lease')
  await ask(session, 'commit')
  await ask(session, hasten)
  await pagesOfBatch(misledSession)
  const misled = await pagesOfBatch(misledSession)

  console.log(
    `pages per job of a batch: claim ${known.claim}, complete ${known.complete}; ` +
      `with misleading statistics ${misled.claim} and ${misled.complete}`,
  )
  for (const { claim, complete } of [known, misled]) {
    expect(claim).toBeLessThan(16)
    expect(complete).toBeLessThan(16)
  }
})

test('a job behind a hundred thousand of one busy key is claimed at once; claims without jobs park those, which then cost nothing', async () => {
  const session = await db.connect('admin')
  await backlog('null')
  const plain = await pagesOfClaim(session)
  await ask(db.admin, 'truncate holdfast.ready, holdfast.lease, holdfast.job')

  await givenIn(db.pool).runningJob({ key: 'busy' })
  await backlog(`'busy'`)
  const other = await givenIn(db.pool).pendingJob()
  const parked = () => askValue<number>(db.admin, 'select count(*)::int from holdfast.ready where parked')
  const steps: number[] = []
  expect(await askList(session, CLAIM)).toEqual([other])
  for (let before = 0; before < MANY && steps.length < 150; ) {
    expect(await askList(session, CLAIM)).toEqual([])
    const now = await parked()
    steps.push(now - before)
    before = now
  }
  expect(await parked()).toBe(MANY)
  expect(Math.max(...steps)).toBeLessThanOrEqual(4000)

  await givenIn(db.pool).pendingJob()
  const soon = await pagesOfClaim(session)
  await ask(db.admin, 'vacuum holdfast.ready')
  const later = await pagesOfClaim(session)
  console.log(
    `pages per claim: beside 100,000 jobs without a key ${plain}, beside 100,000 parked ${soon}, once vacuumed ${later}; ` +
      `${steps.length} claims to park them, at most ${Math.max(...steps)} in one`,
  )
  expect(later).toBeLessThanOrEqual(3 * plain)
})

test.each(['exclusive', 'supersede'])(
  'two open transactions that enqueue the same %s key do not wait for each other',
  async (policy) => {
    const [one, two] = [await db.connect(), await db.connect()]
    const pids = [await pidOf(one), await pidOf(two)]
    await one.query('begin')
    await two.query('begin')
    const first = await givenIn(one).pendingJob({ key: 'k', key_policy: policy })
    const answer = givenIn(two).pendingJob({ key: 'k', key_policy: policy })
    let isOver = false
    const isBlocked = async () => {
      while (!isOver) {
        const blocked = await askList<number>(
          db.admin,
          'select p from unnest($1::int[]) as p where cardinality(pg_blocking_pids(p)) > 0',
          [pids],
        )
        if (blocked.length > 0) return 'waits'
      }
      return undefined
    }

    const second = await Promise.race([answer, isBlocked()])
    isOver = true

    expect(second).not.toBe('waits')
    expect(second).not.toBe(first)
    await two.query('commit')
    await one.query('commit')
  },
)
