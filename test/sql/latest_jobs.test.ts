// latest_jobs: the newest that fit, newest first, page by page.
import { expect, test } from 'vitest'
import { ask, askList } from '../support/ask.js'
import { givenIn } from '../support/given.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()

test('jobs come newest first, and each page goes on below the last id of the one before', async () => {
  const given = givenIn(db.pool)
  const [a, b, c] = [await given.pendingJob(), await given.pendingJob(), await given.pendingJob()]

  expect(await askList(db.pool, 'select id from holdfast.latest_jobs_v1(p_n => 2)')).toEqual([c, b])
  expect(await askList(db.pool, 'select id from holdfast.latest_jobs_v1(p_before => $1)', [b])).toEqual([a])
})

test('state, type and queue each narrow the list', async () => {
  const given = givenIn(db.pool)
  const pending = await given.pendingJob({ type: 'mail', queue: 'bulk' })
  const { job_id: running } = await given.runningJob({ type: 'mail' })
  const { job_id: failed } = await given.finishedJob('failed', { type: 'csv' })

  const list = (filter: string) => askList(db.pool, `select id from holdfast.latest_jobs_v1(${filter})`)
  expect(await list(`p_states => '{failed,running}'`)).toEqual([failed, running])
  expect(await list(`p_type => 'mail'`)).toEqual([running, pending])
  expect(await list(`p_queue => 'bulk'`)).toEqual([pending])
  expect(await list(`p_states => '{completed}'`)).toEqual([])
})

test('a page of many jobs reads no table from end to end', async () => {
  await ask(
    db.pool,
    `select holdfast.enqueue_jobs(jsonb_agg(jsonb_build_object('input', n)), '{"type": "task"}')
                        from generate_series(1, 20000) as n`,
  )
  await ask(db.admin, 'analyze holdfast.job')
  await ask(db.admin, `select pg_stat_reset()`)
  const client = await db.connect()

  await ask(client, 'select id from holdfast.latest_jobs_v1(p_n => 20)')
  await ask(client, 'select pg_stat_force_next_flush()')

  const scans = await ask(
    db.admin,
    `select relname, seq_scan from pg_stat_user_tables
                                      where schemaname = 'holdfast' and relname in ('job', 'ready') and seq_scan > 0`,
  )
  expect(scans).toEqual([])
})
