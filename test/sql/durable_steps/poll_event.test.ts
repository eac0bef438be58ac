// poll_event: a handler meets its event, or the end of its wait, and meets the same in every later attempt.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const LOOK = 'select payload, payload is null as is_timeout from holdfast.poll_event($1, $2, $3, $4, $5)'
const look = (lease: Lease, session: Parameters<typeof ask>[0] = db.pool) =>
  ask(session, LOOK, [lease.job_id, lease.token, lease.lease_id, 'wait', 'paid'])
const emit = (payload: string) => ask(db.pool, `select * from holdfast.emit_event('paid', $1)`, [payload])
const waits = [{ kind: 'event', name: 'wait', event: 'paid', delay_ms: 60_000 }]

/** A job at the moment its wait began, and a way to claim it again at another moment. */
async function waitingJob() {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  const lease = await givenIn(client).runningJob()
  await ask(client, 'select * from holdfast.suspend_jobs($1)', [settlement({ ...lease, waits })])
  return {
    client,
    claimedAt: async (iso: string) => {
      await setClock(client, iso)
      await ask(db.admin, 'update holdfast.ready set run_at = $1', [iso])
      return givenIn(client).claimed(lease.job_id)
    },
  }
}

test('an event that was emitted before is there at once', async () => {
  await emit('{"eur": 7}')

  expect(await look(await given().runningJob())).toEqual([{ payload: { eur: 7 }, is_timeout: false }])
})

test('an event without a payload is an event all the same', async () => {
  await emit('null')

  expect(await look(await given().runningJob())).toEqual([{ payload: null, is_timeout: false }])
})

test('an event that nobody has emitted has to be waited for', async () => {
  expect(await look(await given().runningJob())).toEqual([])
})

test('when the time of the wait is over there is no payload', async () => {
  const { client, claimedAt } = await waitingJob()

  expect(await look(await claimedAt('2030-01-01T00:01:00Z'), client)).toEqual([{ payload: null, is_timeout: true }])
})

test('before its time is over the wait goes on', async () => {
  const { client, claimedAt } = await waitingJob()

  expect(await look(await claimedAt('2030-01-01T00:00:59Z'), client)).toEqual([])
})

test('a wait that was given up stays so, also when its event comes later', async () => {
  const { client, claimedAt } = await waitingJob()
  const lease = await claimedAt('2030-01-01T00:01:00Z')
  await look(lease, client)

  await emit('7')

  expect(await look(lease, client)).toEqual([{ payload: null, is_timeout: true }])
})

test('a look beside an emit that is under way does not wait for it', async () => {
  const { client, claimedAt } = await waitingJob()
  const lease = await claimedAt('2030-01-01T00:01:00Z')
  const emitter = await db.connect()
  await emitter.query('begin')
  await ask(emitter, `select * from holdfast.emit_event('paid', '7')`)

  expect(await look(lease, client)).toEqual([])

  await emitter.query('commit')
  expect(await look(lease, client)).toEqual([{ payload: 7, is_timeout: false }])
})

test('a stale worker is refused', async () => {
  const lease = await given().runningJob()

  await expect(look({ ...lease, lease_id: randomUUID() })).rejects.toMatchObject({ code: 'JH001' })
})
