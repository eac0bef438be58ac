// suspend_jobs: the job is pending until its wait is over, and nothing was counted.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const SUSPEND = 'select * from holdfast.suspend_jobs($1)'
const EMIT = 'select * from holdfast.emit_event($1, $2)'
const nap = (delay_ms: number, name = 'nap') => ({ kind: 'sleep', name, delay_ms })
const paid = (delay_ms: number) => ({ kind: 'event', name: 'paid', event: 'paid', delay_ms })
const pending = (id: string) =>
  askRow(db.admin, 'select run_at, attempts, token from holdfast.ready where job_id = $1', [id])
const isDue = () => askValue(db.pool, 'select run_at <= holdfast.now() from holdfast.jobs')

async function sessionAt(iso: string) {
  const client = await db.connect()
  await setClock(client, iso)
  return client
}

test('a job that sleeps is pending until then, with its attempt given back and its token kept', async () => {
  const client = await sessionAt('2030-01-01T00:00:00Z')
  const lease = await givenIn(client).runningJob()

  const answer = await ask(client, SUSPEND, [settlement({ ...lease, waits: [nap(60_000)] })])

  expect(answer).toEqual([{ job_id: lease.job_id, settled: true, code: null }])
  const run_at = new Date('2030-01-01T00:01:00Z')
  expect(await pending(lease.job_id)).toEqual({ run_at, attempts: 0, token: '1' })
})

test('a job can sleep more often than it may be attempted', async () => {
  const id = await given().pendingJob({ max_attempts: 1 })

  for (const name of ['one', 'two', 'three']) {
    await ask(db.pool, SUSPEND, [settlement({ ...(await given().claimed(id)), waits: [nap(0, name)] })])
  }

  expect(await pending(id)).toMatchObject({ attempts: 0, token: '3' })
})

test('a sleep that is asked for again keeps its first end', async () => {
  const client = await sessionAt('2030-01-01T00:00:00Z')
  const id = await givenIn(client).pendingJob()
  await ask(client, SUSPEND, [settlement({ ...(await givenIn(client).claimed(id)), waits: [nap(60_000)] })])
  await ask(db.admin, 'update holdfast.ready set run_at = $1', ['2030-01-01T00:00:00Z'])
  await setClock(client, '2030-01-01T00:00:30Z')

  await ask(client, SUSPEND, [settlement({ ...(await givenIn(client).claimed(id)), waits: [nap(60_000)] })])

  expect(await pending(id)).toMatchObject({ run_at: new Date('2030-01-01T00:01:00Z'), token: '2' })
})

test('of several waits the first that is over makes the job due', async () => {
  const client = await sessionAt('2030-01-01T00:00:00Z')
  const lease = await givenIn(client).runningJob()

  await ask(client, SUSPEND, [settlement({ ...lease, waits: [nap(60_000), nap(5000, 'short'), paid(30_000)] })])

  expect(await pending(lease.job_id)).toMatchObject({ run_at: new Date('2030-01-01T00:00:05Z') })
})

test('a job whose event has been emitted meanwhile is due at once, with the payload', async () => {
  const lease = await given().runningJob()
  await ask(db.pool, EMIT, ['paid', '{"eur": 7}'])

  await ask(db.pool, SUSPEND, [settlement({ ...lease, waits: [paid(60_000)] })])

  expect(await isDue()).toBe(true)
  expect(await askRow(db.pool, 'select output, is_over from holdfast.read_durable_steps($1)', [lease.job_id])).toEqual({
    output: { eur: 7 },
    is_over: true,
  })
})

test('a job that waits beside the open transaction of an emit is not held up, and looks again soon', async () => {
  const emitter = await db.connect()
  const lease = await given().runningJob()
  await emitter.query('begin')
  await ask(emitter, EMIT, ['paid', '7'])

  await ask(db.pool, SUSPEND, [settlement({ ...lease, waits: [paid(60_000)] })])

  const SOON = `select run_at < holdfast.now() + interval '1 second' from holdfast.jobs`
  expect(await askValue(db.pool, SOON)).toBe(true)
  await emitter.query('commit')
  await ask(db.admin, 'update holdfast.ready set run_at = holdfast.now()')
  const again = await given().claimed(lease.job_id)
  const LOOK = `select payload from holdfast.poll_event($1, $2, $3, 'paid', 'paid')`
  expect(await ask(db.pool, LOOK, Object.values(again))).toEqual([{ payload: 7 }])
})

test('a key is free while its job waits', async () => {
  const lease = await given().runningJob({ key: 'k' })
  const next = await given().pendingJob({ key: 'k' })

  await ask(db.pool, SUSPEND, [settlement({ ...lease, waits: [nap(60_000)] })])

  expect(await given().claimed(next)).toMatchObject({ job_id: next })
})

test('a job that waits can be cancelled', async () => {
  const lease = await given().runningJob()
  await ask(db.pool, SUSPEND, [settlement({ ...lease, waits: [paid(60_000)] })])

  expect(await askValue(db.pool, 'select holdfast.cancel_job($1)', [lease.job_id])).toBe('pending')
  expect(await askRow(db.pool, EMIT, ['paid', '1'])).toMatchObject({ is_first: true, woken: 0 })
})

test('a stale lease is refused and the neighbour settled', async () => {
  const [stale, fresh] = [await given().runningJob(), await given().runningJob()]
  const waits = [nap(1000)]

  const answer = await ask(db.pool, SUSPEND, [
    settlement({ ...stale, lease_id: randomUUID(), waits }, { ...fresh, waits }),
  ])

  expect(answer).toEqual([
    { job_id: stale.job_id, settled: false, code: 'LEASE_LOST' },
    { job_id: fresh.job_id, settled: true, code: null },
  ])
  expect(await ask(db.pool, 'select * from holdfast.read_durable_steps($1)', [stale.job_id])).toEqual([])
})

test.each([
  ['no waits', {}],
  ['an empty list of waits', { waits: [] }],
  ['waits that are no list', { waits: 7 }],
  ['a wait of an unknown kind', { waits: [{ kind: 'hope', name: 'x', delay_ms: 1 }] }],
  ['a sleep without an end', { waits: [{ kind: 'sleep', name: 'x' }] }],
  ['a sleep for ever', { waits: [nap(1e15)] }],
  ['a wait for no event', { waits: [{ kind: 'event', name: 'x', delay_ms: 1 }] }],
  ['a wait without a name', { waits: [{ kind: 'sleep', delay_ms: 1 }] }],
])('%s is refused by its code and the job keeps running', async (_, more) => {
  const lease = await given().runningJob()

  await expect(ask(db.pool, SUSPEND, [settlement({ ...lease, ...more })])).rejects.toMatchObject({ code: 'JH005' })
  expect(await askValue(db.pool, 'select state from holdfast.jobs')).toBe('running')
})

test('a transaction that would not see what its locks waited out is refused', async () => {
  const client = await db.connect()
  const lease = await given().runningJob()
  await client.query('begin isolation level repeatable read')

  const refused = ask(client, SUSPEND, [settlement({ ...lease, waits: [nap(1)] })])

  await expect(refused).rejects.toMatchObject({ code: 'JH006' })
})
