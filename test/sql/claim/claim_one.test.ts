// claim_one: one job by its id, with its lease, or nothing.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { refuseToWait } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const CLAIM = 'select * from holdfast.claim_one($1, $2)'

test.each([
  ['without a key', {}],
  ['with a key', { key: 'k' }],
])('a pending job %s is given with the lease that settles it', async (_kind, wish) => {
  const id = await given().pendingJob({ ...wish, input: { a: 1 } })

  const job = await askRow(db.pool, CLAIM, [id, 'w'])

  expect(job).toMatchObject({ id, input: { a: 1 }, token: '1', attempts: 1, queue: 'default' })
  const answer = await ask(db.pool, 'select settled from holdfast.complete_jobs($1)', [
    settlement({ job_id: id, token: job.token, lease_id: job.lease_id }),
  ])
  expect(answer).toEqual([{ settled: true }])
})

test('the lease is as long as the type says', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  await ask(
    client,
    `select holdfast.put_job_types_v1('[{"type": "task", "queue": "default", "priority": 5, "max_attempts": 3,
      "lease_seconds": 90, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  )
  const id = await givenIn(client).pendingJob()

  expect((await askRow(client, CLAIM, [id, 'w'])).locked_until).toEqual(new Date('2030-01-01T00:01:30Z'))
})

test('a job of a paused queue is not given', async () => {
  const id = await given().pendingJob({ queue: 'q' })
  await ask(db.pool, `select holdfast.pause_queue('q')`)

  expect(await ask(db.pool, CLAIM, [id, 'w'])).toEqual([])
})

test('a job that another transaction is claiming is not given, and nobody waits', async () => {
  const id = await given().pendingJob()
  const [one, two] = [await db.connect(), await db.connect()]
  await refuseToWait(two)
  await one.query('begin')

  expect(await ask(one, CLAIM, [id, 'w1'])).toHaveLength(1)
  expect(await ask(two, CLAIM, [id, 'w2'])).toEqual([])
  await one.query('commit')
})

test('only that job is claimed, not another of its key', async () => {
  const older = await given().pendingJob({ key: 'k' })
  const asked = await given().pendingJob({ key: 'k' })

  expect(await ask(db.pool, CLAIM, [asked, 'w'])).toMatchObject([{ id: asked }])
  expect(await ask(db.pool, CLAIM, [older, 'w'])).toEqual([])
})

test('a repeatable read transaction is refused', async () => {
  const id = await given().pendingJob()
  const client = await db.connect()
  await client.query('begin isolation level repeatable read')

  await expect(ask(client, CLAIM, [id, 'w'])).rejects.toMatchObject({ code: 'JH006' })
})

test('an empty worker is refused', async () => {
  await expect(ask(db.pool, CLAIM, ['1', ''])).rejects.toMatchObject({ code: 'JH005' })
})
