// cancel_job: anyone with the right ends a job that is alive; who ran it is fenced from then on.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { type FinalState, givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const CANCEL = 'select holdfast.cancel_job($1, $2, $3)'
const stateOf = (id: string) => askValue<string>(db.admin, 'select holdfast.state_of($1)', [id])

describe('by state', () => {
  test('a pending job is cancelled with its reason, and has used no attempt', async () => {
    const id = await given().pendingJob()

    expect(await askValue(db.pool, CANCEL, [id, 'not needed', 'ops'])).toBe('pending')
    expect(await askRow(db.admin, 'select state, error, attempts, lease_id from holdfast.outcome')).toEqual({
      state: 'cancelled',
      error: { name: 'Cancelled', message: 'not needed' },
      attempts: 0,
      lease_id: null,
    })
  })

  test('a job of the future and a parked job are cancelled as any pending one', async () => {
    await given().runningJob({ key: 'k' })
    const [future, parked] = [await given().pendingJob({ delay: '1h' }), await given().pendingJob({ key: 'k' })]
    await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 5)`)

    expect(await askValue(db.pool, CANCEL, [future, null, null])).toBe('pending')
    expect(await askValue(db.pool, CANCEL, [parked, null, null])).toBe('pending')
  })

  test('a running job is cancelled, and every write of its holder is refused', async () => {
    const lease = await given().runningJob()

    expect(await askValue(db.pool, CANCEL, [lease.job_id, null, null])).toBe('running')

    for (const operation of [
      'renew_leases',
      'complete_jobs',
      'fail_jobs',
      'snooze_jobs',
      'release_jobs',
      'cancel_jobs',
    ]) {
      expect(await ask(db.pool, `select code from holdfast.${operation}($1)`, [settlement(lease)])).toEqual([
        { code: 'LEASE_LOST' },
      ])
    }
    expect(await stateOf(lease.job_id)).toBe('cancelled')
  })

  test.each<FinalState>(['completed', 'failed', 'cancelled', 'superseded'])('a %s job is refused', async (state) => {
    const { job_id } = await given().finishedJob(state)

    const error = await ask(db.pool, CANCEL, [job_id, null, null]).catch((caught) => caught)

    expect(error.code).toBe('JH003')
    expect(JSON.parse(error.detail)).toEqual({ code: 'WRONG_STATE', job_id: Number(job_id), state })
  })

  test('an unknown job is refused', async () => {
    await expect(ask(db.pool, CANCEL, ['999999999', null, null])).rejects.toMatchObject({ code: 'JH002' })
  })
})

describe('the audit', () => {
  test('who cancelled which job in which state and why is written down', async () => {
    const id = await given().pendingJob()
    await ask(db.pool, CANCEL, [id, 'not needed', 'ops'])

    expect(await askRow(db.admin, 'select actor, action, job_id, details from holdfast.audit')).toEqual({
      actor: 'ops',
      action: 'cancel',
      job_id: id,
      details: { from: 'pending', reason: 'not needed' },
    })
  })

  test('without an actor it names the role that connected, and without a reason none', async () => {
    await ask(db.pool, 'select holdfast.cancel_job($1)', [await given().pendingJob()])

    const user = await askValue(db.pool, 'select session_user')
    expect(await askRow(db.admin, 'select actor, details from holdfast.audit')).toEqual({
      actor: user,
      details: { from: 'pending' },
    })
  })

  test('a refused or rolled back cancel leaves no row', async () => {
    const client = await db.connect()
    await client.query('begin')
    await ask(client, CANCEL, [await given().pendingJob(), null, 'ops'])
    await client.query('rollback')
    await ask(db.pool, CANCEL, ['999999999', null, 'ops']).catch(() => {})

    expect(await askList(db.admin, 'select actor from holdfast.audit')).toEqual([])
  })

  test('a reason of a megabyte is shortened in the error', async () => {
    await ask(db.pool, CANCEL, [await given().pendingJob(), 'x'.repeat(1_000_000), null])

    expect(await askValue(db.admin, `select length(error ->> 'message') from holdfast.outcome`)).toBe(1000)
  })
})

describe('races', () => {
  test.each([
    ['without a key', {}],
    ['with a key', { key: 'k' }],
  ])('a cancel that waits for an open claim of a job %s cancels the running job and fences it', async (_kind, wish) => {
    const id = await given().pendingJob(wish)
    const [claimer, operator] = [await db.connect(), await db.connect()]
    const pid = await pidOf(operator)
    await claimer.query('begin')
    const lease = await givenIn(claimer).claimed(id)

    const cancel = askValue(operator, CANCEL, [id, null, null])
    await waitUntilBlocked(db.admin, pid)
    await claimer.query('commit')

    expect(await cancel).toBe('running')
    expect(await ask(db.pool, 'select code from holdfast.complete_jobs($1)', [settlement(lease)])).toEqual([
      { code: 'LEASE_LOST' },
    ])
  })

  test('a cancel that waits for an open claim cancels the pending job when the claim rolls back', async () => {
    const id = await given().pendingJob()
    const [claimer, operator] = [await db.connect(), await db.connect()]
    const pid = await pidOf(operator)
    await claimer.query('begin')
    await givenIn(claimer).claimed(id)

    const cancel = askValue(operator, CANCEL, [id, null, null])
    await waitUntilBlocked(db.admin, pid)
    await claimer.query('rollback')

    expect(await cancel).toBe('pending')
  })

  test('a cancel that waits for an open completion is refused when that commits', async () => {
    const lease = await given().runningJob()
    const [worker, operator] = [await db.connect(), await db.connect()]
    const pid = await pidOf(operator)
    await worker.query('begin')
    await ask(worker, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])

    const cancel = ask(operator, CANCEL, [lease.job_id, null, null]).catch((error) => error.code)
    await waitUntilBlocked(db.admin, pid)
    await worker.query('commit')

    expect(await cancel).toBe('JH003')
    expect(await stateOf(lease.job_id)).toBe('completed')
  })

  test('a cancel that waits for an open failure meets the job pending again', async () => {
    const lease = await given().runningJob()
    const [worker, operator] = [await db.connect(), await db.connect()]
    const pid = await pidOf(operator)
    await worker.query('begin')
    await ask(worker, 'select * from holdfast.fail_jobs($1)', [settlement(lease)])

    const cancel = askValue(operator, CANCEL, [lease.job_id, null, null])
    await waitUntilBlocked(db.admin, pid)
    await worker.query('commit')

    expect(await cancel).toBe('pending')
    expect(await stateOf(lease.job_id)).toBe('cancelled')
  })

  test('of two cancels of one job the second is refused', async () => {
    const id = await given().pendingJob()
    const [one, two] = [await db.connect(), await db.connect()]
    const pid = await pidOf(two)
    await one.query('begin')
    await ask(one, CANCEL, [id, null, null])

    const second = ask(two, CANCEL, [id, null, null]).catch((error) => error.code)
    await waitUntilBlocked(db.admin, pid)
    await one.query('commit')

    expect(await second).toBe('JH003')
  })
})
