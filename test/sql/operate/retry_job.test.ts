// retry_job: an operator gives a finished job fresh attempts; its old leases stay worthless.
import { describe, expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { type FinalState, givenIn, settlement } from '../../support/given.js'
import { listen } from '../../support/listen.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const RETRY = 'select holdfast.retry_job($1, $2)'

test.each<FinalState>(['completed', 'failed', 'cancelled', 'superseded'])(
  'a %s job is pending again, due now, with no attempt used',
  async (state) => {
    const { job_id, token } = await given().finishedJob(state, { max_attempts: 4 })

    expect(await askValue(db.pool, RETRY, [job_id, 'ops'])).toBe(state)

    expect(
      await askRow(
        db.admin,
        'select attempts, max_attempts, token, run_at <= holdfast.now() as due from holdfast.ready',
      ),
    ).toEqual({ attempts: 0, max_attempts: 4, token, due: true })
  },
)

test('the token goes on, so what an earlier attempt still sends is refused', async () => {
  const old = await given().finishedJob('completed')
  await ask(db.pool, RETRY, [old.job_id, null])
  const fresh = await given().claimed(old.job_id)

  expect(Number(fresh.token)).toBe(Number(old.token) + 1)
  expect(await ask(db.pool, 'select code from holdfast.complete_jobs($1)', [settlement(old)])).toEqual([
    { code: 'LEASE_LOST' },
  ])
})

test('the attempts before the retry stay in the record', async () => {
  const failed = await given().finishedJob('failed')
  await ask(db.pool, RETRY, [failed.job_id, null])
  const again = await given().claimed(failed.job_id)
  await ask(db.pool, 'select * from holdfast.fail_jobs($1)', [settlement(again)])

  expect(await ask(db.admin, 'select token, attempt from holdfast.attempt order by token')).toEqual([
    { token: '1', attempt: 1 },
    { token: '2', attempt: 1 },
  ])
})

test('a job that was cancelled before it ever ran can be retried', async () => {
  const id = await given().pendingJob()
  await ask(db.pool, 'select holdfast.cancel_job($1)', [id])

  await ask(db.pool, RETRY, [id, null])

  expect(await given().claimed(id)).toMatchObject({ token: '1' })
})

test('it is written down who retried what', async () => {
  const { job_id } = await given().finishedJob('failed')
  await ask(db.pool, RETRY, [job_id, 'ops'])

  expect(await askRow(db.admin, 'select actor, action, job_id, details from holdfast.audit')).toEqual({
    actor: 'ops',
    action: 'retry',
    job_id,
    details: { from: 'failed' },
  })
})

test('workers are told when it commits', async () => {
  const { job_id } = await given().finishedJob('failed')
  const heard = await listen(await db.connect(), 'holdfast_wake')

  await ask(db.pool, RETRY, [job_id, null])

  expect(await heard()).toEqual([''])
})

describe('what is refused', () => {
  test.each([
    ['pending', () => given().pendingJob()],
    [
      'running',
      () =>
        given()
          .runningJob()
          .then(({ job_id }) => job_id),
    ],
  ])('a %s job', async (state, make) => {
    const id = await make()

    const error = await ask(db.pool, RETRY, [id, null]).catch((caught) => caught)

    expect(error.code).toBe('JH003')
    expect(JSON.parse(error.detail)).toMatchObject({ job_id: Number(id), state })
  })

  test('an unknown job', async () => {
    await expect(ask(db.pool, RETRY, ['999999999', null])).rejects.toMatchObject({ code: 'JH002' })
  })

  test('the second of two retries that meet, so that the job is pending once', async () => {
    const { job_id } = await given().finishedJob('failed')
    const [one, two] = [await db.connect(), await db.connect()]
    const pid = await pidOf(two)
    await one.query('begin')
    await ask(one, RETRY, [job_id, null])

    const second = ask(two, RETRY, [job_id, null]).catch((error) => error.code)
    await waitUntilBlocked(db.admin, pid)
    await one.query('commit')

    expect(await second).toBe('JH003')
  })
})

test('a retried job of a held key waits for its holder', async () => {
  const { job_id } = await given().finishedJob('completed', { key: 'k' })
  const holder = await given().runningJob({ key: 'k' })
  await ask(db.pool, RETRY, [job_id, null])

  expect(await askValue(db.pool, 'select holdfast.claim_job($1, $2)', [job_id, 'w'])).toBe(false)
  await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(holder)])
  expect(await askValue(db.pool, 'select holdfast.claim_job($1, $2)', [job_id, 'w'])).toBe(true)
})
