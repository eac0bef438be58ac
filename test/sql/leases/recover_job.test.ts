// The operator's way to take a job from a holder that is stuck.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const IN_31_MINUTES = new Date(Date.now() + 31 * 60_000).toISOString()

test('a job claimed longer ago than the limit is pending now, with fresh attempts, and its holder is fenced', async () => {
  const lease = await givenIn(db.pool).runningJob()
  const operator = await db.connect()
  await setClock(operator, IN_31_MINUTES)

  await ask(operator, `select holdfast.recover_job($1, actor => 'ada')`, [lease.job_id])

  expect(await askRow(db.admin, 'select state, attempts, token from holdfast.jobs')).toEqual({
    state: 'pending',
    attempts: 0,
    token: lease.token,
  })
  expect(await ask(db.pool, 'select code from holdfast.complete_jobs($1)', [settlement(lease)])).toEqual([
    { code: 'LEASE_LOST' },
  ])
  expect(await askRow(db.admin, 'select actor, action, job_id from holdfast.audit')).toEqual({
    actor: 'ada',
    action: 'recover',
    job_id: lease.job_id,
  })
})

test('a job claimed lately is refused and goes on', async () => {
  const lease = await givenIn(db.pool).runningJob()

  await expect(ask(db.pool, 'select holdfast.recover_job($1)', [lease.job_id])).rejects.toMatchObject({ code: 'JH007' })
  expect(await ask(db.pool, 'select settled from holdfast.complete_jobs($1)', [settlement(lease)])).toEqual([
    { settled: true },
  ])
})

test('only a running job can be recovered', async () => {
  const id = await givenIn(db.pool).pendingJob()

  await expect(ask(db.pool, 'select holdfast.recover_job($1)', [id])).rejects.toMatchObject({ code: 'JH003' })
  await expect(ask(db.pool, 'select holdfast.recover_job(999999)')).rejects.toMatchObject({ code: 'JH002' })
})

test('recovering frees the key for the next', async () => {
  const holder = await givenIn(db.pool).runningJob({ key: 'k' })
  await ask(db.pool, `select holdfast.recover_job($1, '-1 second')`, [holder.job_id])

  expect(await ask(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)).toHaveLength(1)
})
