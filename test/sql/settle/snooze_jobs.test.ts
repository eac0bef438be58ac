// snooze_jobs: the job comes back later and nothing was counted.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const SNOOZE = 'select * from holdfast.snooze_jobs($1)'

test('a snoozed job is pending until its delay is over, with its attempt given back and its token kept', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  const lease = await givenIn(client).runningJob()

  const answer = await ask(client, SNOOZE, [settlement({ ...lease, delay_ms: 60_000 })])

  expect(answer).toEqual([{ job_id: lease.job_id, settled: true, code: null }])
  expect(await askRow(db.admin, 'select run_at, attempts, token from holdfast.ready')).toEqual({
    run_at: new Date('2030-01-01T00:01:00Z'),
    attempts: 0,
    token: lease.token,
  })
})

test('a job can be snoozed more often than it may be attempted', async () => {
  const id = await given().pendingJob({ max_attempts: 1 })

  for (let i = 0; i < 3; i += 1) await ask(db.pool, SNOOZE, [settlement(await given().claimed(id))])

  expect(await askRow(db.admin, 'select attempts, token from holdfast.ready')).toEqual({ attempts: 0, token: '3' })
})

test('each member waits for its own delay', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  const [soon, late] = [await givenIn(client).runningJob(), await givenIn(client).runningJob()]

  await ask(client, SNOOZE, [settlement({ ...late, delay_ms: 5000 }, { ...soon, delay_ms: 1 })])

  const runAt = 'select run_at from holdfast.ready where job_id = $1'
  expect(await askValue(db.admin, runAt, [late.job_id])).toEqual(new Date('2030-01-01T00:00:05Z'))
  expect(await askValue(db.admin, runAt, [soon.job_id])).toEqual(new Date('2030-01-01T00:00:00.001Z'))
})

test('a stale lease is refused and the neighbour settled', async () => {
  const [stale, fresh] = [await given().runningJob(), await given().runningJob()]

  const answer = await ask(db.pool, SNOOZE, [settlement({ ...stale, lease_id: randomUUID() }, fresh)])

  expect(answer).toEqual([
    { job_id: stale.job_id, settled: false, code: 'LEASE_LOST' },
    { job_id: fresh.job_id, settled: true, code: null },
  ])
})

test('what is no array of objects is refused by its code', async () => {
  await expect(ask(db.pool, SNOOZE, ['[7]'])).rejects.toMatchObject({ code: 'JH005' })
})
