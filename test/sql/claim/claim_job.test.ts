// claim_job: true means you own it and must run it; false means skip it silently.
import { describe, expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { refuseToWait } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { type FinalState, givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const CLAIM = 'select holdfast.claim_job($1, $2)'
const claim = (id: string, worker = 'w') => askValue<boolean>(db.pool, CLAIM, [id, worker])

test('a due pending job is yours, and the view shows token and lease id', async () => {
  const id = await given().pendingJob()

  expect(await claim(id, 'me')).toBe(true)

  const job = await askRow(db.pool, 'select state, locked_by, token, lease_id from holdfast.jobs where id = $1', [id])
  expect(job).toMatchObject({ state: 'running', locked_by: 'me', token: '1' })
  const complete = 'select settled from holdfast.complete_jobs($1)'
  expect(
    await askValue(db.pool, complete, [settlement({ job_id: id, token: job.token, lease_id: job.lease_id })]),
  ).toBe(true)
})

describe('false, without an error', () => {
  test('a second delivery of the same job', async () => {
    const id = await given().pendingJob()
    await claim(id)

    expect(await claim(id)).toBe(false)
    expect(await askValue(db.admin, 'select attempts from holdfast.lease')).toBe(1)
  })

  test('a job that is not due', async () => {
    expect(await claim(await given().pendingJob({ delay: '1h' }))).toBe(false)
  })

  test.each<FinalState>(['completed', 'failed', 'cancelled', 'superseded'])('a %s job', async (state) => {
    const { job_id } = await given().finishedJob(state)

    expect(await claim(job_id)).toBe(false)
    expect(await askValue(db.admin, 'select holdfast.state_of($1)', [job_id])).toBe(state)
  })

  test('an unknown job', async () => {
    expect(await claim('999999999')).toBe(false)
  })

  test('a job whose key is held', async () => {
    await given().runningJob({ key: 'k' })

    expect(await claim(await given().pendingJob({ key: 'k' }))).toBe(false)
  })

  test('an older job of a supersede key than the newest pending one', async () => {
    const older = await given().pendingJob({ key: 'k', key_policy: 'supersede' })
    const newest = await given().pendingJob({ key: 'k', key_policy: 'supersede' })

    expect(await claim(older)).toBe(false)
    expect(await claim(newest)).toBe(true)
  })
})

test.each([
  ['without a key', {}],
  ['with an exclusive key', { key: 'k' }],
  ['with a supersede key', { key: 'k', key_policy: 'supersede' }],
  ['with a coalescing key', { key: 'k', key_policy: 'coalesce' }],
])('of two racers for a job %s exactly one is told true', async (_kind, wish) => {
  const id = await given().pendingJob(wish)
  const [one, two] = [await db.connect(), await db.connect()]
  await refuseToWait(two)
  await one.query('begin')

  const answers = [await askValue(one, CLAIM, [id, 'w1']), await askValue(two, CLAIM, [id, 'w2'])]
  await one.query('commit')

  expect(answers).toEqual([true, false])
  expect(await claim(id)).toBe(false)
})

test.each([
  ['without a key', {}],
  ['with an exclusive key', { key: 'k' }],
])('twenty racers for a job %s: one true, nineteen false', async (_kind, wish) => {
  const id = await given().pendingJob(wish)

  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(id, `w${i}`)))

  expect(answers.filter(Boolean)).toHaveLength(1)
})

test('when its time comes, a job that was refused before can be claimed', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  const id = await givenIn(client).pendingJob({ delay: '1h' })
  expect(await askValue(client, CLAIM, [id, 'w'])).toBe(false)

  await setClock(client, '2030-01-01T01:00:00Z')

  expect(await askValue(client, CLAIM, [id, 'w'])).toBe(true)
})

test('a repeatable read transaction is refused by its code', async () => {
  const client = await db.connect()
  await client.query('begin isolation level repeatable read')

  await expect(ask(client, CLAIM, ['1', 'w'])).rejects.toMatchObject({ code: 'JH006' })
})
