// roll_statistics: what has ended is counted once, whatever breaks in between.
import type pg from 'pg'
import { expect, test } from 'vitest'
import { BUCKET_BOUNDS } from '../../../src/domain/value/spread.js'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { until } from '../../support/holdfast.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const ROLL = 'select holdfast.roll_statistics_v1()'

/** A session of the owner whose clock stands still. */
async function sessionAt(moment: string): Promise<pg.Client> {
  const session = await db.connect('admin')
  await setClock(session, moment)
  return session
}

/** Rolls at that moment until all that ended more than five seconds before is counted. Others' transactions may delay it. */
async function rollAt(session: pg.Client, moment: string): Promise<void> {
  await setClock(session, moment)
  const wanted = new Date(moment).getTime() - 5000
  await until(async () => {
    await ask(session, ROLL)
    return (await countedTo()).getTime() >= wanted
  })
}

const countedTo = () => askValue<Date>(db.admin, 'select counted_to from holdfast.statistics_mark')
const statistics = () =>
  ask(
    db.admin,
    `select to_char(minute at time zone 'UTC', 'HH24:MI') as minute, queue, type, fact, n::int
       from holdfast.statistics_minute order by minute, fact, queue`,
  )

test('each end of a job and each lost attempt is counted in its minute', async () => {
  const session = await sessionAt('2026-03-01T12:00:10Z')
  const given = givenIn(session)
  await given.finishedJob('completed')
  await given.finishedJob('completed')
  await given.finishedJob('cancelled', { queue: 'bulk' })
  await setClock(session, '2026-03-01T12:01:10Z')
  await given.finishedJob('failed', { type: 'mail' })
  const lease = await given.runningJob()
  await ask(session, 'select * from holdfast.fail_jobs($1)', [settlement({ ...lease, delay_ms: 0 })])

  await rollAt(session, '2026-03-01T12:02:00Z')

  expect(await statistics()).toEqual([
    { minute: '12:00', queue: 'bulk', type: 'task', fact: 'cancelled', n: 1 },
    { minute: '12:00', queue: 'default', type: 'task', fact: 'completed', n: 2 },
    { minute: '12:01', queue: 'default', type: 'mail', fact: 'attempt_failed', n: 1 },
    { minute: '12:01', queue: 'default', type: 'task', fact: 'attempt_failed', n: 1 },
    { minute: '12:01', queue: 'default', type: 'mail', fact: 'failed', n: 1 },
  ])
})

test('waits and runs go into the buckets of their length; a job that never ran has none', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  const given = givenIn(session)
  const id = await given.pendingJob()
  const unclaimed = await given.pendingJob()
  await setClock(session, '2026-03-01T12:00:00.030Z')
  const lease = await given.claimed(id)
  await ask(session, 'select holdfast.cancel_job($1)', [unclaimed])
  await setClock(session, '2026-03-01T12:00:02.030Z')
  await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])

  await rollAt(session, '2026-03-01T12:01:00Z')

  const at = (span: number) => BUCKET_BOUNDS.findIndex((bound) => span < bound)
  const buckets = (span: number) => [...BUCKET_BOUNDS, 0].map((_, place) => (place === at(span) ? '1' : '0'))
  expect(
    await ask(
      db.admin,
      'select fact, wait_ms, run_ms, wait_buckets, run_buckets from holdfast.statistics_minute order by 1',
    ),
  ).toEqual([
    {
      fact: 'cancelled',
      wait_ms: '0',
      run_ms: '0',
      wait_buckets: buckets(-1).fill('0'),
      run_buckets: buckets(-1).fill('0'),
    },
    { fact: 'completed', wait_ms: '30', run_ms: '2000', wait_buckets: buckets(30), run_buckets: buckets(2000) },
  ])
})

test('jobs of many lengths, types and minutes are counted each where it belongs', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  const spans = [
    { minute: '12:00', type: 'mail', wait: 3, run: 7 },
    { minute: '12:00', type: 'mail', wait: 3, run: 700 },
    { minute: '12:00', type: 'mail', wait: 40, run: 7 },
    { minute: '12:00', type: 'mail', wait: 3, run: 7 },
    { minute: '12:00', type: 'task', wait: 40, run: 7 },
    { minute: '12:01', type: 'mail', wait: 20_000, run: 4 },
  ]
  for (const { minute, type, wait, run } of spans) {
    const start = new Date(`2026-03-01T${minute}:00Z`).getTime()
    await setClock(session, new Date(start).toISOString())
    const id = await givenIn(session).pendingJob({ type })
    await setClock(session, new Date(start + wait).toISOString())
    const lease = await givenIn(session).claimed(id)
    await setClock(session, new Date(start + wait + run).toISOString())
    await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])
  }

  await rollAt(session, '2026-03-01T12:02:00Z')

  const place = (span: number) => BUCKET_BOUNDS.findIndex((bound) => span < bound)
  const buckets = (all: number[]) =>
    [...BUCKET_BOUNDS, 0].map((_, at) => String(all.filter((span) => place(span) === at).length))
  const sum = (all: number[]) => String(all.reduce((total, each) => total + each, 0))
  const groups = [
    ['12:00', 'mail'],
    ['12:00', 'task'],
    ['12:01', 'mail'],
  ] as const
  expect(
    await ask(
      db.admin,
      `select to_char(minute at time zone 'UTC', 'HH24:MI') as minute, type, n::int, wait_ms, run_ms, wait_buckets, run_buckets
         from holdfast.statistics_minute order by minute, type`,
    ),
  ).toEqual(
    groups.map(([minute, type]) => {
      const own = spans.filter((each) => each.minute === minute && each.type === type)
      const [waits, runs] = [own.map(({ wait }) => wait), own.map(({ run }) => run)]
      return {
        minute,
        type,
        n: own.length,
        wait_ms: sum(waits),
        run_ms: sum(runs),
        wait_buckets: buckets(waits),
        run_buckets: buckets(runs),
      }
    }),
  )
})

test('the bounds of the buckets are those that readers know', async () => {
  expect(await askValue(db.admin, 'select holdfast.statistics_buckets()')).toEqual([...BUCKET_BOUNDS])
})

test('counting again adds nothing, and what ends later in a counted minute is added to it', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  await givenIn(session).finishedJob('completed')
  await rollAt(session, '2026-03-01T12:00:10Z')
  await rollAt(session, '2026-03-01T12:00:20Z')
  await setClock(session, '2026-03-01T12:00:30Z')
  await givenIn(session).finishedJob('completed')
  await rollAt(session, '2026-03-01T12:00:40Z')
  await rollAt(session, '2026-03-01T12:00:50Z')

  expect(await statistics()).toMatchObject([{ minute: '12:00', n: 2 }])
  expect(
    await askList(db.admin, 'select sum(b)::int from holdfast.statistics_minute, unnest(run_buckets) as b'),
  ).toEqual([2])
})

test('a round that is undone has counted nothing; the next counts it once', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  await givenIn(session).finishedJob('completed')
  await rollAt(session, '2026-03-01T12:00:04Z')
  await setClock(session, '2026-03-01T12:00:20Z')
  await ask(session, ROLL)
  const before = await askRow(db.admin, 'select * from holdfast.statistics_mark')
  await ask(session, 'begin')
  await until(async () => {
    await ask(session, 'rollback')
    await ask(session, 'begin')
    await ask(session, ROLL)
    return (await askValue<number>(session, 'select count(*)::int from holdfast.statistics_minute')) === 1
  })
  await ask(session, 'rollback')

  expect(await askRow(db.admin, 'select * from holdfast.statistics_mark')).toEqual(before)
  expect(await statistics()).toEqual([])
  await rollAt(session, '2026-03-01T12:00:30Z')
  expect(await statistics()).toMatchObject([{ n: 1 }])
})

test('an outcome whose transaction commits late is counted all the same', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  const slow = await sessionAt('2026-03-01T12:00:00Z')
  const lease = await givenIn(session).runningJob()
  await slow.query('begin')
  await slow.query('select holdfast.complete_job($1, $2, $3)', [lease.job_id, lease.token, lease.lease_id])
  await givenIn(session).finishedJob('completed')
  for (const second of [10, 20, 30, 40]) {
    await setClock(session, `2026-03-01T12:00:${second}Z`)
    await ask(session, ROLL)
  }
  const whileOpen = await statistics()
  await slow.query('commit')
  await rollAt(session, '2026-03-01T12:01:00Z')

  expect(whileOpen).toEqual([])
  expect(await statistics()).toMatchObject([{ minute: '12:00', n: 2 }])
})

test('a transaction that stays open does not hold the statistics up for longer than five minutes', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  const stuck = await sessionAt('2026-03-01T12:00:00Z')
  await stuck.query('begin')
  await stuck.query('select pg_current_xact_id()')
  await givenIn(session).finishedJob('completed')
  for (const moment of ['12:00:10', '12:04:00', '12:05:11']) {
    await setClock(session, `2026-03-01T${moment}Z`)
    await ask(session, ROLL)
  }

  expect(await statistics()).toMatchObject([{ n: 1 }])
  await stuck.query('rollback')
})

test('two at once do not count the same', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  await givenIn(session).finishedJob('completed')
  await rollAt(session, '2026-03-01T12:00:04Z')
  await setClock(session, '2026-03-01T12:00:20Z')
  await ask(session, ROLL)
  const other = await sessionAt('2026-03-01T12:00:30Z')
  await other.query('begin')
  await until(async () => {
    await other.query('rollback')
    await other.query('begin')
    await ask(other, ROLL)
    return (await askValue<number>(other, 'select count(*)::int from holdfast.statistics_minute')) === 1
  })

  expect(await askValue(session, ROLL)).toBe(false)
  await other.query('commit')
  await rollAt(session, '2026-03-01T12:00:40Z')
  expect(await statistics()).toMatchObject([{ n: 1 }])
})

test('what was counted a moment ago is left alone, so that many workers write no more than one', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  await rollAt(session, '2026-03-01T12:00:10Z')
  const before = await askRow(db.admin, 'select * from holdfast.statistics_mark')
  await setClock(session, '2026-03-01T12:00:13Z')

  expect(await askValue(session, ROLL)).toBe(false)
  expect(await askRow(db.admin, 'select * from holdfast.statistics_mark')).toEqual(before)
})

test('more than twenty thousand ends are counted in several rounds, each once', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  await ask(
    session,
    `with made as (
       insert into holdfast.job (type, queue, priority, max_attempts, input, created_at)
       select 'task', 'default', 5, 3, '{}', holdfast.now() from generate_series(1, 45000)
       returning id
     )
     insert into holdfast.outcome (job_id, token, run_at, locked_at, finished_at, attempts, state)
     select m.id, 1, holdfast.now(), holdfast.now(), holdfast.now() + interval '1 ms' * (m.id % 1000), 1, 'completed' from made as m`,
  )
  await setClock(session, '2026-03-01T12:00:10Z')
  await ask(session, ROLL)
  await setClock(session, '2026-03-01T12:00:20Z')
  await until(async () => askValue<boolean>(session, ROLL))
  await rollAt(session, '2026-03-01T12:00:20Z')

  expect(await statistics()).toMatchObject([{ n: 45_000 }])
})

test('after a day minutes become hours, after thirty days they are gone', async () => {
  const session = await sessionAt('2026-03-01T12:10:00Z')
  await givenIn(session).finishedJob('completed')
  await setClock(session, '2026-03-01T12:50:00Z')
  await givenIn(session).finishedJob('completed')
  await rollAt(session, '2026-03-01T12:55:00Z')
  const minutes = await statistics()
  await rollAt(session, '2026-03-02T14:00:00Z')
  const hours = await statistics()
  await rollAt(session, '2026-03-02T15:00:00Z')

  expect(minutes).toMatchObject([
    { minute: '12:10', n: 1 },
    { minute: '12:50', n: 1 },
  ])
  expect(hours).toMatchObject([{ minute: '12:00', n: 2 }])
  expect(await statistics()).toEqual(hours)
  expect(
    await askList(db.admin, 'select sum(b)::int from holdfast.statistics_minute, unnest(run_buckets) as b'),
  ).toEqual([2])
  await setClock(session, '2026-04-05T12:00:00Z')
  await ask(session, ROLL)
  expect(await statistics()).toEqual([])
})

test('statistics are not counted inside a transaction that has written already', async () => {
  const session = await sessionAt('2026-03-01T12:00:00Z')
  await session.query('begin')
  await session.query('select pg_current_xact_id()')

  await expect(ask(session, ROLL)).rejects.toMatchObject({ code: 'JH005' })
})
