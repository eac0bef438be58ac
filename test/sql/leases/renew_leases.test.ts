// renew_leases: who still holds a job holds it for longer; who does not is told so.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { refuseToWait } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const RENEW = 'select * from holdfast.renew_leases($1)'

test('a renewed lease ends its length of the type after now', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  await ask(
    client,
    `select holdfast.put_job_types_v1('[{"type": "long", "queue": "default", "priority": 5, "max_attempts": 3,
      "lease_seconds": 600, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  )
  const [short, long] = [await givenIn(client).runningJob(), await givenIn(client).runningJob({ type: 'long' })]
  await setClock(client, '2030-01-01T00:00:10Z')

  const answer = await ask(client, RENEW, [settlement(short, long)])

  expect(answer).toEqual([
    { job_id: short.job_id, renewed: true, code: null, locked_until: new Date('2030-01-01T00:00:40Z') },
    { job_id: long.job_id, renewed: true, code: null, locked_until: new Date('2030-01-01T00:10:10Z') },
  ])
})

test('a renewal changes neither token nor lease id nor since when the job runs', async () => {
  const lease = await given().runningJob()
  const before = await askRow(db.admin, 'select token, lease_id, locked_at, attempts from holdfast.lease')

  await ask(db.pool, RENEW, [settlement(lease)])

  expect(await askRow(db.admin, 'select token, lease_id, locked_at, attempts from holdfast.lease')).toEqual(before)
})

test('a lost lease is told so, in place, and the others are renewed', async () => {
  const [stale, ended, fresh] = [
    await given().runningJob(),
    await given().finishedJob('completed'),
    await given().runningJob({ key: 'k' }),
  ]

  const answer = await ask(db.pool, RENEW, [settlement({ ...stale, lease_id: randomUUID() }, ended, fresh)])

  expect(answer.map(({ job_id, renewed, code }) => ({ job_id, renewed, code }))).toEqual([
    { job_id: stale.job_id, renewed: false, code: 'LEASE_LOST' },
    { job_id: ended.job_id, renewed: false, code: 'LEASE_LOST' },
    { job_id: fresh.job_id, renewed: true, code: null },
  ])
})

test('a stale worker does not prolong the lease of the present holder', async () => {
  const stale = await given().runningJob()
  await ask(db.pool, 'select * from holdfast.release_jobs($1)', [settlement(stale)])
  await given().claimed(stale.job_id, 'worker-2')
  const before = await askValue(db.admin, 'select locked_until from holdfast.lease')

  await ask(db.pool, RENEW, [settlement(stale)])

  expect(await askValue(db.admin, 'select locked_until from holdfast.lease')).toEqual(before)
})

test('a lease locked by its own open completion counts as held, holds up nothing and nobody waits', async () => {
  const [busy, other] = [await given().runningJob(), await given().runningJob()]
  const [completer, renewer] = [await db.connect(), await db.connect()]
  await completer.query('begin')
  await ask(completer, 'select holdfast.complete_job($1, $2, $3)', [busy.job_id, busy.token, busy.lease_id])
  await refuseToWait(renewer)
  await setClock(renewer, '2090-01-01T00:00:00Z')

  const answer = await ask(renewer, RENEW, [settlement(busy, other)])
  await completer.query('commit')

  expect(answer.map(({ renewed }) => renewed)).toEqual([true, true])
  expect(answer[1]?.locked_until).toEqual(new Date('2090-01-01T00:00:30Z'))
})

test('an expired lease that nobody has taken away can still be renewed', async () => {
  const lease = await given().runningJob()
  const renewer = await db.connect()
  await setClock(renewer, '2090-01-01T00:00:00Z')

  expect(await ask(renewer, RENEW, [settlement(lease)])).toMatchObject([{ renewed: true }])
})

test('what is no array of objects is refused by its code', async () => {
  await expect(ask(db.pool, RENEW, ['{}'])).rejects.toMatchObject({ code: 'JH005' })
})
