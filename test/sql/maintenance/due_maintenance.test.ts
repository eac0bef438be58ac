// due_maintenance: what waits for a worker, all kinds in one answer.
import { expect, test } from 'vitest'
import { ask, askRow, type Session } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { at, dueAtNine } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const leaseEnds = (moment: string) => ask(db.admin, 'update holdfast.lease set locked_until = $1', [moment])

const due = (session: Session, { queues = ['default'], types = ['task'], known = [] as string[] } = {}) =>
  askRow(
    session,
    `select lost_in_ms::int, schedule_in_ms::int, has_bulk, has_stats, has_quarantined
       from holdfast.due_maintenance_v1($1, $2, $3)`,
    [queues, types, known],
  )

test('in a fresh database nothing is due but the first count of statistics', async () => {
  expect(await due(db.pool)).toEqual({
    lost_in_ms: null,
    schedule_in_ms: null,
    has_bulk: false,
    has_stats: true,
    has_quarantined: false,
  })
})

test('statistics that have just been counted are not due', async () => {
  await ask(db.pool, 'select holdfast.roll_statistics_v1()')
  await ask(db.admin, 'update holdfast.statistics_mark set counted_to = holdfast.now()')

  expect(await due(db.pool)).toMatchObject({ has_stats: false })
})

test('a lease may be lost when its time is over', async () => {
  await givenIn(db.pool).runningJob()
  await leaseEnds('2090-01-01T00:00:03Z')
  const client = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')

  expect(await due(client)).toMatchObject({ lost_in_ms: 3000 })
})

test('one poll of the leases serves all workers for two seconds', async () => {
  await givenIn(db.pool).runningJob()
  await leaseEnds('2090-01-01T00:00:30Z')
  const client = await db.connect()
  const other = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')
  expect(await due(client)).toMatchObject({ lost_in_ms: 30_000 })
  await leaseEnds('2090-01-01T00:00:20Z')

  await setClock(other, '2090-01-01T00:00:01.9Z')
  expect(await due(other)).toMatchObject({ lost_in_ms: 28_100 })
  await setClock(other, '2090-01-01T00:00:02Z')
  expect(await due(other)).toMatchObject({ lost_in_ms: 18_000 })
})

test('a poll that takes long is made less often', async () => {
  await givenIn(db.pool).runningJob()
  await leaseEnds('2090-01-01T01:00:00Z')
  const client = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')
  await due(client)
  await ask(db.admin, `update holdfast.lease_poll set took = '1 second'`)
  await leaseEnds('2090-01-01T00:30:00Z')

  await setClock(client, '2090-01-01T00:00:19Z')
  expect(await due(client)).toMatchObject({ lost_in_ms: 3_581_000 })
  await setClock(client, '2090-01-01T00:00:20Z')
  expect(await due(client)).toMatchObject({ lost_in_ms: 1_780_000 })
})

test('when a lease is over, the worker that polls learns of it, and others meanwhile do not', async () => {
  await givenIn(db.pool).runningJob()
  await leaseEnds('2090-01-01T00:00:01Z')
  const looking = await db.connect('admin')
  const client = await db.connect()
  for (const session of [looking, client]) await setClock(session, '2090-01-01T00:00:00Z')
  await due(client)

  for (const session of [looking, client]) await setClock(session, '2090-01-01T00:00:01.5Z')
  await looking.query('begin')
  expect(await due(looking)).toMatchObject({ lost_in_ms: -500 })
  expect(await due(client)).toMatchObject({ lost_in_ms: null })
  await looking.query('commit')
  expect(await due(client)).toMatchObject({ lost_in_ms: -500 })

  await ask(client, 'select * from holdfast.reap_leases_v1()')
  expect(await due(client)).toMatchObject({ lost_in_ms: null })
})

test('a poll by a clock that is ahead is ignored', async () => {
  await givenIn(db.pool).runningJob()
  await leaseEnds('2090-01-01T00:00:10Z')
  const ahead = await db.connect()
  await setClock(ahead, '2090-01-01T00:00:05Z')
  await due(ahead)
  await leaseEnds('2090-01-01T00:00:03Z')
  const client = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')

  expect(await due(client)).toMatchObject({ lost_in_ms: 3000 })
})

test('a lease may be lost before that, when a worker is silent', async () => {
  const client = await db.connect()
  await setClock(client, '2090-01-01T00:00:00Z')
  await givenIn(client).runningJob()
  await ask(client, `select holdfast.register_worker_v1('w', 'pod', 1, '1', '{default}', '{task}', 1)`)
  await setClock(client, '2090-01-01T00:00:11Z')

  expect(await due(client)).toMatchObject({ lost_in_ms: -1000 })
})

test('a schedule is due at its tick', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  expect(await due(client)).toMatchObject({ schedule_in_ms: -1000 })

  await setClock(client, at('08:59:59'))
  expect(await due(client)).toMatchObject({ schedule_in_ms: 1000 })
})

test('a schedule whose input code computes is due where the definition is', async () => {
  await ask(db.pool, 'select holdfast.put_schedules_v1($1)', [
    '[{"job_key": "coded", "type": "t", "every_ms": 1000, "input_from_code": true}]',
  ])

  expect(await due(db.pool)).toMatchObject({ schedule_in_ms: null })
  expect(await due(db.pool, { known: ['coded'] })).toMatchObject({ schedule_in_ms: expect.any(Number) })
})

test('an open bulk operation is due until it is worked off', async () => {
  await ask(db.pool, `select holdfast.start_bulk_v1('retry', '{"states": ["failed"]}')`)
  expect(await due(db.pool)).toMatchObject({ has_bulk: true })

  await ask(db.pool, 'select holdfast.work_bulk_v1()')

  expect(await due(db.pool)).toMatchObject({ has_bulk: false })
})

test('a job in quarantine is due for workers of its queue and type', async () => {
  await givenIn(db.pool).pendingJob()
  expect(await due(db.pool)).toMatchObject({ has_quarantined: false })
  await ask(db.admin, 'update holdfast.ready set crashes = 2')

  expect(await due(db.pool)).toMatchObject({ has_quarantined: true })
  expect(await due(db.pool, { queues: ['other'] })).toMatchObject({ has_quarantined: false })
  expect(await due(db.pool, { types: ['other'] })).toMatchObject({ has_quarantined: false })
})
