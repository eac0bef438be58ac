// complete_job: the work and its completion commit together or not at all.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const COMPLETE = 'select holdfast.complete_job($1, $2, $3, $4)'

beforeAll(async () => {
  await ask(db.admin, 'create table public.booking (id text); grant all on public.booking to public')
})

test('the completion commits with what the caller wrote', async () => {
  const lease = await given().runningJob()
  const caller = await db.connect()

  await caller.query('begin')
  await caller.query(`insert into public.booking values ('kept')`)
  await ask(caller, COMPLETE, [lease.job_id, lease.token, lease.lease_id, '{"ok": true}'])
  await caller.query('commit')

  expect(await askList(db.admin, 'select id from public.booking')).toContain('kept')
  expect(await askRow(db.admin, 'select state, output from holdfast.outcome')).toEqual({
    state: 'completed',
    output: { ok: true },
  })
})

test('the completion is gone when the caller rolls back', async () => {
  const lease = await given().runningJob()
  const caller = await db.connect()

  await caller.query('begin')
  await ask(caller, COMPLETE, [lease.job_id, lease.token, lease.lease_id, null])
  await caller.query('rollback')

  expect(await askValue(db.admin, 'select holdfast.state_of($1)', [lease.job_id])).toBe('running')
})

test.each([
  { what: 'an old token', change: { token: '0' } },
  { what: 'another lease id', change: { lease_id: randomUUID() } },
  { what: 'an unknown job', change: { job_id: '999999999' } },
])('$what raises, and the caller cannot commit what it wrote', async ({ change }) => {
  const lease = { ...(await given().runningJob()), ...change }
  const caller = await db.connect()
  await caller.query('begin')
  await caller.query(`insert into public.booking values ('lost')`)

  const completion = ask(caller, COMPLETE, [lease.job_id, lease.token, lease.lease_id, null])

  await expect(completion).rejects.toMatchObject({ code: 'JH001', message: expect.stringMatching(/^LEASE_LOST: /) })
  expect((await caller.query('commit')).command).toBe('ROLLBACK')
  expect(await askList(db.admin, `select id from public.booking where id = 'lost'`)).toEqual([])
})

test('a second completion by the same lease raises: one transaction has already ended the job', async () => {
  const lease = await given().finishedJob('completed')

  const again = ask(db.pool, COMPLETE, [lease.job_id, lease.token, lease.lease_id, null])

  await expect(again).rejects.toMatchObject({ code: 'JH001' })
})

test('the key of a completed job is free for its next job', async () => {
  const lease = await given().runningJob({ key: 'k' })
  const next = await given().pendingJob({ key: 'k' })

  await ask(db.pool, COMPLETE, [lease.job_id, lease.token, lease.lease_id, null])

  expect(await askValue(db.pool, 'select holdfast.claim_job($1, $2)', [next, 'w'])).toBe(true)
})
