// job_versions: another text after every change, the same while nothing happens.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { givenIn, settlement } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const versions = (ids: string[]) => ask(db.pool, 'select * from holdfast.job_versions_v1($1)', [ids])
const versionOf = async (id: string) =>
  (await askRow(db.pool, 'select * from holdfast.job_versions_v1($1)', [[id]])).version

test('every change gives a version that was not there before, and a read changes nothing', async () => {
  const seen: string[] = []
  const look = async (id: string) => {
    const version = await versionOf(id)
    expect(await versionOf(id)).toBe(version)
    seen.push(version)
  }
  const id = await given().pendingJob()
  await look(id)
  const lease = await given().claimed(id)
  await look(id)
  for (const share of [0.5, 0.5]) {
    await ask(db.pool, 'select holdfast.report_progress($1, $2, $3, $4)', [id, lease.token, lease.lease_id, share])
    await look(id)
  }
  await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])
  await look(id)
  for (let i = 0; i < 2; i += 1) {
    await ask(db.pool, 'select holdfast.retry_job($1)', [id])
    await look(id)
    await ask(db.pool, 'select holdfast.cancel_job($1)', [id])
    await look(id)
  }

  expect(new Set(seen).size).toBe(seen.length)
})

test('a pending job that an enqueue merges into has another version', async () => {
  const wish = { key: 'k', key_policy: 'coalesce', coalesce: 'replace' }
  const id = await given().pendingJob({ ...wish, input: { n: 1 } })
  const before = await versionOf(id)

  expect(await given().pendingJob({ ...wish, input: { n: 2 } })).toBe(id)
  expect(await versionOf(id)).not.toBe(before)
})

test('a waiting job has another version when one of those before it has ended, and again when it can start', async () => {
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b' }, { name: 'c', after: ['a', 'b'] }])
  const { complete, jobOf } = stepsOf(db.pool, db.admin, id)
  const c = await jobOf('c')
  const seen = [await versionOf(c)]
  for (const step of ['a', 'b']) {
    await complete(step)
    seen.push(await versionOf(c))
  }

  expect(new Set(seen).size).toBe(3)
})

test('a durable step changes the text of the steps, and so does the end of a sleep', async () => {
  const { job_id, token, lease_id } = await given().runningJob()
  const steps = async () => (await versions([job_id]))[0]?.steps
  const seen = [await steps()]
  await ask(db.pool, `select holdfast.store_durable_step_v1($1, $2, $3, 'read', '{"rows": 3}')`, [
    job_id,
    token,
    lease_id,
  ])
  seen.push(await steps())
  await ask(
    db.admin,
    `insert into holdfast.durable_step (job_id, kind, name, token, at, wake_at)
     values ($1, 'sleep', 'nap', $2, holdfast.now(), holdfast.now() + interval '1 hour')`,
    [job_id, token],
  )
  seen.push(await steps())
  await ask(db.admin, `update holdfast.durable_step set wake_at = holdfast.now() where kind = 'sleep'`)
  seen.push(await steps())

  expect(seen[0]).toBe('0.0')
  expect(new Set(seen).size).toBe(4)
})

test('the id of the last log line is returned too', async () => {
  const lease = await given().runningJob()
  const before = await askRow(db.pool, 'select * from holdfast.job_versions_v1($1)', [[lease.job_id]])
  const line = {
    job_id: lease.job_id,
    token: lease.token,
    at: '2026-03-01T12:00:00Z',
    level: 'info',
    message: 'm',
    fields: {},
  }
  await ask(db.pool, 'select holdfast.append_logs_v1($1)', [JSON.stringify([line, line])])
  const last = await askRow(db.admin, 'select max(id) as id from holdfast.job_log')

  expect(before.last_log).toBe('0')
  expect(await versions([lease.job_id])).toMatchObject([{ version: before.version, last_log: last.id }])
})

test('jobs that do not exist are left out, and the others come in order, each once', async () => {
  const one = await given().pendingJob()
  const two = (await given().finishedJob('completed')).job_id

  expect((await versions([two, '999999', one, two])).map((row) => row.id)).toEqual([one, two])
})

test('more than a thousand at a time are refused', async () => {
  await expect(versions(Array.from({ length: 1001 }, (_, i) => String(i + 1)))).rejects.toMatchObject({ code: 'JH005' })
})
