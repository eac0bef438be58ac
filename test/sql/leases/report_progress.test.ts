// report_progress: only the holder says how far a job is.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { givenIn, type Lease } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const REPORT = 'select holdfast.report_progress($1, $2, $3, $4, $5)'
const shown = () => askRow(db.admin, 'select progress, status_message from holdfast.jobs')

test('the holder reports a share and a message', async () => {
  const { job_id, token, lease_id } = await given().runningJob()

  expect(await askValue(db.pool, REPORT, [job_id, token, lease_id, 0.5, 'half way'])).toBe(true)
  expect(await shown()).toEqual({ progress: 0.5, status_message: 'half way' })
})

test('a report without a message keeps the message, and one without a share keeps the share', async () => {
  const { job_id, token, lease_id } = await given().runningJob()
  await askValue(db.pool, REPORT, [job_id, token, lease_id, 0.25, 'reading'])

  await askValue(db.pool, REPORT, [job_id, token, lease_id, 0.75, null])
  expect(await shown()).toEqual({ progress: 0.75, status_message: 'reading' })

  await askValue(db.pool, REPORT, [job_id, token, lease_id, null, 'writing'])
  expect(await shown()).toEqual({ progress: 0.75, status_message: 'writing' })
})

test.each([
  [-3, 0],
  [7, 1],
  [Number.POSITIVE_INFINITY, 1],
  [Number.NaN, 1],
])('a share of %s is taken as %s', async (given_share, kept) => {
  const { job_id, token, lease_id } = await given().runningJob()

  await askValue(db.pool, REPORT, [job_id, token, lease_id, given_share, null])

  expect((await shown()).progress).toBe(kept)
})

test('a message of a megabyte is shortened', async () => {
  const { job_id, token, lease_id } = await given().runningJob()

  await askValue(db.pool, REPORT, [job_id, token, lease_id, 0, 'x'.repeat(1_000_000)])

  expect((await shown()).status_message).toHaveLength(1000)
})

test('a stale worker changes nothing and is told false', async () => {
  const { job_id, token, lease_id } = await given().runningJob()

  expect(await askValue(db.pool, REPORT, [job_id, '0', lease_id, 0.9, 'stale'])).toBe(false)
  expect(await askValue(db.pool, REPORT, [job_id, token, randomUUID(), 0.9, 'stale'])).toBe(false)
  expect(await shown()).toEqual({ progress: null, status_message: null })
})

test('a finished job takes no report', async () => {
  const { job_id, token, lease_id } = await given().finishedJob('completed')

  expect(await askValue(db.pool, REPORT, [job_id, token, lease_id, 1, null])).toBe(false)
})

test('on a page that claims have filled a report still finds room, and writes no index', async () => {
  const jobs = `(select jsonb_agg('{"type": "task"}'::jsonb) from generate_series(1, 400))`
  await ask(db.pool, `select count(*) from holdfast.enqueue_jobs(${jobs}, '{}', 'never')`)
  await ask(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 400)`)
  const client = await db.connect('admin')
  const onePerPage = await ask<Lease>(
    client,
    `select distinct on ((l.ctid::text::point)[0]) l.job_id, l.token, l.lease_id
       from holdfast.lease as l order by (l.ctid::text::point)[0]`,
  )

  for (const { job_id, token, lease_id } of onePerPage) {
    await askValue(client, REPORT, [job_id, token, lease_id, 0.4, 'rows 4,000 of 10,000'])
  }
  await ask(client, 'select pg_stat_force_next_flush()')
  const counts = await askRow(
    client,
    `select n_tup_upd::int as updates, n_tup_hot_upd::int as on_page
       from pg_stat_user_tables where relid = 'holdfast.lease'::regclass`,
  )

  expect(onePerPage.length).toBeGreaterThan(5)
  expect(counts).toEqual({ updates: onePerPage.length, on_page: onePerPage.length })
})
