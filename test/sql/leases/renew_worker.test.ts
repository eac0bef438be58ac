// renew_worker: all that a worker holds is held for longer, by one who knows nothing but the worker.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { refuseToWait } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const RENEW = 'select holdfast.renew_worker_v1($1)'
const ends = async () => {
  const rows = await ask(db.admin, 'select job_id, locked_until from holdfast.lease order by job_id')
  return rows.map(({ locked_until }) => (locked_until as Date).toISOString())
}

/** On a clock of its own: two jobs of 30 seconds, one of them with a key, and one of ten minutes; and another worker's. */
async function held() {
  const client = await db.connect()
  const given = givenIn(client)
  await setClock(client, '2030-01-01T00:00:00Z')
  await ask(
    client,
    `select holdfast.put_job_types_v1('[{"type": "long", "queue": "default", "priority": 5, "max_attempts": 3,
      "lease_seconds": 600, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  )
  const own = [await given.runningJob(), await given.runningJob({ key: 'k' }), await given.runningJob({ type: 'long' })]
  const other = await given.pendingJob()
  await given.claimed(other, 'worker-2')
  const worker = await askValue<string>(db.admin, 'select locked_by from holdfast.lease where job_id = $1', [
    own[0]?.job_id,
  ])
  return { client, own, worker }
}

test('leases that are due end their length of the type after now, and nobody else’s is touched', async () => {
  const { client, worker } = await held()
  await setClock(client, '2030-01-01T00:00:10Z')

  expect(await askValue(client, RENEW, [worker])).toBe(2)

  expect(await ends()).toEqual([
    '2030-01-01T00:00:40.000Z',
    '2030-01-01T00:00:40.000Z',
    '2030-01-01T00:10:00.000Z', // more than 0.7 of it was left
    '2030-01-01T00:00:30.000Z', // another worker's
  ])
})

test('a lease that is over and that nobody has taken away is renewed too', async () => {
  const { client, worker } = await held()
  await setClock(client, '2030-01-01T01:00:00Z')

  expect(await askValue(client, RENEW, [worker])).toBe(3)
  expect((await ends())[0]).toBe('2030-01-01T01:00:30.000Z')
})

test('it changes neither token nor lease id nor since when the job runs', async () => {
  const { client, worker } = await held()
  const FACTS = 'select job_id, token, lease_id, locked_at, attempts from holdfast.lease order by job_id'
  const before = await ask(db.admin, FACTS)
  await setClock(client, '2030-01-01T00:00:20Z')

  await ask(client, RENEW, [worker])

  expect(await ask(db.admin, FACTS)).toEqual(before)
})

test('a lease that its open completion has locked is passed by, and nobody waits', async () => {
  const { client, own, worker } = await held()
  const completer = await db.connect()
  await completer.query('begin')
  await ask(completer, 'select holdfast.complete_job($1, $2, $3)', [own[0]?.job_id, own[0]?.token, own[0]?.lease_id])
  await refuseToWait(client)
  await setClock(client, '2030-01-01T00:00:10Z')

  expect(await askValue(client, RENEW, [worker])).toBe(1)
  await completer.query('commit')
})

test('a worker that holds nothing renews nothing', async () => {
  expect(await askValue(db.pool, RENEW, ['nobody'])).toBe(0)
})
