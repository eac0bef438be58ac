// emit_event: the first payload stays, and a waiting job is woken, whichever of the two comes first.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, settlement } from '../../support/given.js'
import { listen } from '../../support/listen.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const EMIT = 'select * from holdfast.emit_event($1, $2)'
const SUSPEND = 'select * from holdfast.suspend_jobs($1)'
const waits = [{ kind: 'event', name: 'paid', event: 'paid', delay_ms: 3_600_000 }]
const isDue = (id: string) =>
  askValue<boolean>(db.pool, 'select run_at <= holdfast.now() from holdfast.jobs where id = $1', [id])

async function waitingJob(): Promise<string> {
  const lease = await given().runningJob()
  await ask(db.pool, SUSPEND, [settlement({ ...lease, waits })])
  return lease.job_id
}

test('the first emit stands and the second is given its payload', async () => {
  expect(await askRow(db.pool, EMIT, ['paid', '1'])).toEqual({ is_first: true, payload: 1, woken: 0 })
  expect(await askRow(db.pool, EMIT, ['paid', '2'])).toEqual({ is_first: false, payload: 1, woken: 0 })
})

test('every job that waits for it is due, those that wait for another are not', async () => {
  const [one, two] = [await waitingJob(), await waitingJob()]
  const other = await given().runningJob()
  const refund = [{ kind: 'event', name: 'refund', event: 'refund', delay_ms: 3_600_000 }]
  await ask(db.pool, SUSPEND, [settlement({ ...other, waits: refund })])

  expect(await askRow(db.pool, EMIT, ['paid', '{"eur": 7}'])).toMatchObject({ woken: 2 })

  expect(await Promise.all([one, two, other.job_id].map(isDue))).toEqual([true, true, false])
  expect(await askValue(db.pool, 'select output from holdfast.read_durable_steps($1)', [one])).toEqual({ eur: 7 })
})

test('a job that failed after its wait keeps the moment of its next attempt', async () => {
  const id = await waitingJob()
  await ask(db.admin, 'update holdfast.ready set run_at = holdfast.now()')
  const failure = { ...(await given().claimed(id)), delay_ms: 3_600_000 }
  await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [settlement(failure)])

  expect(await askRow(db.pool, EMIT, ['paid', '1'])).toMatchObject({ is_first: true, woken: 0 })
  expect(await isDue(id)).toBe(false)
})

test('an emit that is rolled back never happened', async () => {
  const id = await waitingJob()
  const client = await db.connect()
  await client.query('begin')
  await ask(client, EMIT, ['paid', '1'])

  await client.query('rollback')

  expect(await isDue(id)).toBe(false)
  expect(await askRow(db.pool, EMIT, ['paid', '2'])).toMatchObject({ is_first: true, payload: 2, woken: 1 })
})

test('of two emits at once the second waits for the first, and stands if that is rolled back', async () => {
  const [first, second] = [await db.connect(), await db.connect()]
  const pid = await pidOf(second)
  await first.query('begin')
  await ask(first, EMIT, ['paid', '1'])

  const answer = askRow(second, EMIT, ['paid', '2'])
  await waitUntilBlocked(db.admin, pid)
  await first.query('rollback')

  expect(await answer).toMatchObject({ is_first: true, payload: 2 })
})

test('an emit that meets a job just beginning to wait wakes it', async () => {
  const [waiter, emitter] = [await db.connect(), await db.connect()]
  const lease = await given().runningJob()
  const pid = await pidOf(emitter)
  await waiter.query('begin')
  await ask(waiter, SUSPEND, [settlement({ ...lease, waits })])

  const answer = askRow(emitter, EMIT, ['paid', '1'])
  await waitUntilBlocked(db.admin, pid)
  await waiter.query('commit')

  expect(await answer).toMatchObject({ is_first: true, woken: 1 })
  expect(await isDue(lease.job_id)).toBe(true)
})

test('an emit that commits between the look for the event and the wait is not missed', async () => {
  const lease = await given().runningJob()
  const LOOK = `select * from holdfast.poll_event($1, $2, $3, 'paid', 'paid')`
  expect(await ask(db.pool, LOOK, Object.values(lease))).toEqual([])

  await ask(db.pool, EMIT, ['paid', '1'])
  await ask(db.pool, SUSPEND, [settlement({ ...lease, waits })])

  expect(await isDue(lease.job_id)).toBe(true)
})

test('waking tells the workers', async () => {
  await waitingJob()
  const heard = await listen(await db.connect(), 'holdfast_wake')

  await ask(db.pool, EMIT, ['paid', '1'])

  expect(await heard()).toEqual([''])
})

test.each([
  ['no name', null, '1', 'JH005'],
  ['an endless name', 'x'.repeat(201), '1', 'JH005'],
  ['no payload', 'paid', null, 'JH004'],
  ['a payload that is too large', 'paid', JSON.stringify('x'.repeat(300_000)), 'JH004'],
])('an event with %s is refused by its code', async (_, name, payload, code) => {
  await expect(ask(db.pool, EMIT, [name, payload])).rejects.toMatchObject({ code })
})

test('a transaction that would not see what its lock waited out is refused', async () => {
  const client = await db.connect()
  await client.query('begin isolation level repeatable read')

  await expect(ask(client, EMIT, ['paid', '1'])).rejects.toMatchObject({ code: 'JH006' })
})
