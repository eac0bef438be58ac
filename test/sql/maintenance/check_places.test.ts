// check_places: each kind of violation is found when someone stages it by hand.
import { beforeEach, expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { countRows, prepareToCount } from '../../support/rows-handled.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase({ staysSound: false })
const given = () => givenIn(db.pool)
const problems = () => ask(db.pool, 'select * from holdfast.check_places()')

let pending: string
let running: Lease
let finished: Lease
beforeEach(async () => {
  pending = await given().pendingJob({ key: 'pending' })
  running = await given().runningJob({ key: 'running' })
  finished = await given().finishedJob('completed', { key: 'finished' })
})

test('jobs in all places are sound', async () => {
  await given().pendingJob({ key: 'running' })
  await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 1)`)

  expect(await problems()).toEqual([])
})

test('a job in no place', async () => {
  await ask(db.admin, 'delete from holdfast.ready')

  expect(await problems()).toEqual([{ job_id: pending, problem: 'is in no place' }])
})

test('a job in two places', async () => {
  await ask(
    db.admin,
    `insert into holdfast.outcome (job_id, token, run_at, finished_at, attempts, state)
     values ($1, 1, now(), now(), 1, 'failed')`,
    [pending],
  )

  expect(await problems()).toEqual([
    { job_id: pending, problem: expect.stringMatching(/^is in (ready and outcome|outcome and ready)$/) },
  ])
})

test('a job twice in the same place', async () => {
  await ask(db.admin, 'insert into holdfast.outcome select * from holdfast.outcome')

  expect(await problems()).toEqual([{ job_id: finished.job_id, problem: 'is in outcome and outcome' }])
})

test.each([
  ['ready', () => pending],
  ['lease', () => running.job_id],
])('a row of %s whose job is gone', async (place, id) => {
  await ask(db.admin, 'delete from holdfast.job where id = $1', [id()])

  expect(await problems()).toEqual([{ job_id: id(), problem: `is in ${place} but was never asked for` }])
})

test('an outcome whose job was pruned is no problem', async () => {
  await ask(db.admin, 'delete from holdfast.job where id = $1', [finished.job_id])

  expect(await problems()).toEqual([])
})

test.each([
  ['names another holder', `update holdfast.job_key set holder = null where key = 'running'`],
  ['has another token', `update holdfast.job_key set token = token + 1 where key = 'running'`],
  ['is missing', `delete from holdfast.job_key where key = 'running'`],
])('a running job whose key row %s', async (_how, damage) => {
  await ask(db.admin, damage)

  expect(await problems()).toEqual([
    { job_id: running.job_id, problem: 'runs with key running whose row says otherwise' },
  ])
})

test('a key whose holder does not run', async () => {
  await ask(db.admin, `update holdfast.job_key set holder = current_job where key = 'finished'`)

  expect(await problems()).toEqual([{ job_id: finished.job_id, problem: 'holds key finished but does not run' }])
})

test('a job parked although its key is free', async () => {
  await ask(db.admin, 'update holdfast.ready set parked = true')

  expect(await problems()).toEqual([{ job_id: pending, problem: 'is parked behind nobody' }])
})

test('a parked job behind another that can be claimed is no problem', async () => {
  await given().pendingJob({ key: 'pending' })
  await ask(db.admin, 'update holdfast.ready set parked = true where job_id = $1', [pending])

  expect(await askList(db.pool, 'select problem from holdfast.check_places()')).toEqual([])
})

test('two leases of one key cannot even be stored', async () => {
  const copy = `insert into holdfast.lease
    select (l).* from (select jsonb_populate_record(l, '{"job_id": 1000000}') as l from holdfast.lease as l) as c`

  await expect(ask(db.admin, copy)).rejects.toMatchObject({ code: '23505', constraint: 'lease_one_per_key' })
})

test('a waiting job whose count of open dependencies is wrong', async () => {
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b', after: ['a'] }])
  expect(await problems()).toEqual([])
  await ask(db.admin, 'update holdfast.waiting set open = 2')

  const job_id = await stepsOf(db.pool, db.admin, id).jobOf('b')
  expect(await problems()).toEqual([{ job_id, problem: 'waits for 2 jobs, but 1 are open' }])
})

test('a waiting job that is pending too', async () => {
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b', after: ['a'] }])
  const job_id = await stepsOf(db.pool, db.admin, id).jobOf('b')

  await ask(db.admin, 'select holdfast.ready_steps(array[$1::bigint], array[0::bigint])', [job_id])

  expect(await problems()).toEqual([{ job_id, problem: expect.stringMatching(/^is in \w+ and \w+$/) }])
})

test('statistics that call the tables empty do not make it compare all jobs with all others', async () => {
  const client = await db.connect('admin')
  const fill = async () => {
    await ask(
      client,
      `select count(*) from holdfast.enqueue_jobs(
         (select jsonb_agg('{"type": "task"}'::jsonb) from generate_series(1, 2000)), '{}', 'never')`,
    )
    const leases = await ask<Lease>(
      client,
      `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', 1000)`,
    )
    await ask(client, 'select from holdfast.complete_jobs($1)', [settlement(...leases)])
  }
  await fill()
  for (const table of ['ready', 'outcome', 'job']) await ask(client, `delete from holdfast.${table}`)
  await ask(client, 'vacuum (analyze, truncate false)')
  await fill()
  await prepareToCount(client)

  const { rows } = await countRows(client, () => ask(client, 'select from holdfast.check_places()'))

  expect(rows).toBeLessThan(100_000)
})
