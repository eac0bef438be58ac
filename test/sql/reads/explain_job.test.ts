// explain_job: one sentence for each reason why a job does not run, with its code and its facts.
import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const NOW = '2030-01-01T00:00:00Z'
const LATER = '2030-01-01T01:00:00.000Z'
let session: pg.Client

beforeEach(async () => {
  session = await db.connect()
  await setClock(session, NOW)
})

const given = () => givenIn(session)
const explain = (id: string) =>
  ask(session, 'select code, text, facts, expected_start from holdfast.explain_job($1)', [id])
const textsOf = async (id: string) => (await explain(id)).map(({ code, text }) => [code, text])

/** A live worker of queue default; its slots are `slots`. */
const worker = (types = ['task'], { queues = ['default'], slots = 10, id = 'w' } = {}) =>
  ask(session, 'select holdfast.register_worker_v1($1, $2, 1, $2, $3, $4, $5)', [id, 'x', queues, types, slots])
const wait = (kind: 'sleep' | 'event', name: string) => ({
  kind,
  name,
  delay_ms: 3_600_000,
  ...(kind === 'event' && { event: name }),
})
const suspended = async (...waits: object[]) => {
  const lease = await given().runningJob()
  await ask(session, 'select * from holdfast.suspend_jobs($1)', [settlement({ ...lease, waits })])
  return lease.job_id
}

test('a job that nothing keeps from running is expected now', async () => {
  await worker()
  const id = await given().pendingJob()

  expect(await explain(id)).toEqual([
    {
      code: 'DUE',
      text: 'it can start now: a worker takes it at its next poll',
      facts: {},
      expected_start: new Date(NOW),
    },
  ])
})

test('not due until a moment, which is its expected start', async () => {
  await worker()
  const id = await given().pendingJob({ run_at: LATER })

  expect(await explain(id)).toMatchObject([
    {
      code: 'NOT_DUE',
      text: 'it is not due until 2030-01-01 01:00:00 UTC',
      facts: { until: '2030-01-01T01:00:00+00:00' },
      expected_start: new Date(LATER),
    },
  ])
})

test('an attempt failed and the next one is due later', async () => {
  await worker()
  const lease = await given().runningJob()
  const failure = { ...lease, delay_ms: 3_600_000, error: { message: '451 try later' } }
  await ask(session, 'select * from holdfast.fail_jobs($1)', [settlement(failure)])

  expect(await explain(lease.job_id)).toMatchObject([
    {
      code: 'RETRY_LATER',
      text: 'attempt 1 of 3 failed (451 try later); the next one is due at 2030-01-01 01:00:00 UTC',
      expected_start: new Date(LATER),
    },
  ])
})

test('its handler sleeps', async () => {
  await worker()
  const id = await suspended(wait('sleep', 'cool off'))

  expect(await explain(id)).toMatchObject([
    {
      code: 'SLEEPING',
      text: 'its handler sleeps (cool off) until 2030-01-01 01:00:00 UTC',
      expected_start: new Date(LATER),
    },
  ])
})

test('its handler waits for an event, and has no expected start', async () => {
  await worker()
  const id = await suspended(wait('event', 'order 7 paid'))

  expect(await explain(id)).toMatchObject([
    {
      code: 'WAITING_FOR_EVENT',
      text: 'its handler waits for the event "order 7 paid" until 2030-01-01 01:00:00 UTC',
      facts: { event: 'order 7 paid' },
      expected_start: null,
    },
  ])
})

/** Ids of the steps of a pipeline whose last one comes after all the others. */
async function pipelineOf(n: number): Promise<string[]> {
  const first = Array.from({ length: n }, (_, i) => ({ name: `part ${i}`, type: 'task' }))
  const last = { name: 'sum', type: 'report', after: first.map(({ name }) => name) }
  const pipeline = { name: 'sums', input: {}, on_failure: 'stop', result: 'sum' }
  await ask(session, 'select * from holdfast.enqueue_pipeline_v1($1, $2)', [
    JSON.stringify(pipeline),
    JSON.stringify([...first, last]),
  ])
  return (await ask(session, 'select id from holdfast.jobs order by id')).map(({ id }) => id)
}

test('it waits for the jobs before it that are not over', async () => {
  const [one = '', two = '', three = '', sum = ''] = await pipelineOf(3)
  await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(await given().claimed(one))])
  await given().claimed(two)

  expect(await explain(sum)).toMatchObject([
    {
      code: 'WAITING_FOR_JOBS',
      text: `it waits for job ${two} (task, running), job ${three} (task, pending)`,
      facts: { is_more: false },
      expected_start: null,
    },
  ])
})

test('of many jobs that it waits for ten are named', async () => {
  const ids = await pipelineOf(12)

  const [reason] = await explain(ids.at(-1) ?? '')
  expect(reason?.facts.jobs).toHaveLength(10)
  expect(reason?.text).toMatch(/ and more$/)
})

test('its queue is paused, by whom and since when', async () => {
  await worker()
  const id = await given().pendingJob()
  await ask(session, `select holdfast.pause_queue('default', 'ada')`)

  expect(await explain(id)).toMatchObject([
    {
      code: 'QUEUE_PAUSED',
      text: 'queue "default" has been paused by ada since 2030-01-01 00:00:00 UTC',
      facts: { queue: 'default', by: 'ada' },
      expected_start: null,
    },
  ])
})

test('its key is held by another job', async () => {
  await worker()
  const holder = await given().runningJob({ key: 'k' })
  const id = await given().pendingJob({ key: 'k' })

  expect(await explain(id)).toMatchObject([
    {
      code: 'KEY_HELD',
      text: `its key is held by job ${holder.job_id}, whose lease runs until 2030-01-01 00:00:30 UTC`,
      facts: { key: 'k', job_id: Number(holder.job_id), worker: 'worker-1' },
      expected_start: null,
    },
  ])
})

test('a held key does not stop a job that supersedes its holder', async () => {
  await worker()
  await given().runningJob({ key: 'k', key_policy: 'supersede' })
  const id = await given().pendingJob({ key: 'k', key_policy: 'supersede' })

  expect(await textsOf(id)).toMatchObject([['DUE', expect.any(String)]])
})

test('two workers died with it', async () => {
  await worker()
  const id = await given().pendingJob()
  await ask(db.admin, 'update holdfast.ready set crashes = 2')

  expect(await textsOf(id)).toEqual([
    ['RUNS_ALONE', '2 workers died while it ran: it starts when a worker has nothing else to do'],
  ])
})

test('no worker is alive, also when one heartbeat long ago', async () => {
  await worker()
  const id = await given().pendingJob()
  await setClock(session, '2030-01-01T00:00:11Z')

  expect(await textsOf(id)).toEqual([['NO_WORKER', 'no worker is alive']])
})

test('no live worker serves its queue', async () => {
  await worker(['task'], { queues: ['bulk', 'mail'] })
  const id = await given().pendingJob()

  expect(await textsOf(id)).toEqual([
    ['QUEUE_NOT_SERVED', 'no live worker serves queue "default"; served are: bulk, mail'],
  ])
})

test('no live worker of its queue has its type', async () => {
  await worker(['mail', 'report'])
  await worker(['task'], { queues: ['other'], id: 'elsewhere' })
  const id = await given().pendingJob()

  expect(await textsOf(id)).toEqual([
    ['TYPE_NOT_SERVED', 'no live worker of queue "default" has a handler for type "task"; they have: mail, report'],
  ])
})

test('all slots of the workers that could run it are taken', async () => {
  await worker(['task'], { slots: 1 })
  const running = await given().pendingJob()
  await given().claimed(running, 'w')
  const id = await given().pendingJob()

  expect(await explain(id)).toMatchObject([
    {
      code: 'WORKERS_BUSY',
      text: 'all 1 slots of the 1 live workers that can run it are taken',
      facts: { slots: 1, workers: 1, taken: 1 },
      expected_start: null,
    },
  ])
})

test('others of its queue come before it', async () => {
  await worker()
  await given().pendingJob()
  const id = await given().pendingJob()
  await given().pendingJob({ priority: 1 })
  await given().pendingJob()
  await given().pendingJob({ priority: 1, run_at: LATER })

  expect(await textsOf(id)).toEqual([['BEHIND_OTHERS', '2 due jobs of its queue come before it']])
})

test('a long backlog is counted to a thousand', async () => {
  await worker()
  await ask(session, `select holdfast.enqueue_jobs(jsonb_agg('{"type": "task"}'::jsonb)) from generate_series(1, 1200)`)
  const id = await given().pendingJob()

  expect(await textsOf(id)).toEqual([['BEHIND_OTHERS', 'at least 1000 due jobs of its queue come before it']])
})

test('a backlog of 50,000 jobs is not read to be counted', async () => {
  await worker()
  const backlog = `select count(*) from holdfast.enqueue_jobs(
    (select jsonb_agg('{"type": "task"}'::jsonb) from generate_series(1, $1)), $2, 'never')`
  await ask(session, backlog, [25_000, '{}'])
  await ask(session, backlog, [25_000, '{"priority": 1}'])
  const id = await given().pendingJob()
  const owner = await db.connect('admin')
  await setClock(owner, NOW)
  const READ = `select (pg_stat_get_xact_tuples_returned('holdfast.ready'::regclass)
                      + pg_stat_get_xact_tuples_returned('holdfast.ready_claim'::regclass))::int`

  await owner.query('begin')
  const before = await askValue<number>(owner, READ)
  const [reason] = await ask(owner, 'select text from holdfast.explain_job($1)', [id])
  const after = await askValue<number>(owner, READ)
  await owner.query('rollback')

  expect(reason?.text).toBe('at least 1000 due jobs of its queue come before it')
  expect(after - before).toBeLessThan(3000)
})

test('it runs', async () => {
  const { job_id } = await given().runningJob()

  expect(await explain(job_id)).toMatchObject([
    {
      code: 'RUNNING',
      text: 'it runs on worker-1 since 2030-01-01 00:00:00 UTC, attempt 1 of 3; its lease runs until 2030-01-01 00:00:30 UTC',
      expected_start: null,
    },
  ])
})

test('its holder does not renew', async () => {
  const { job_id } = await given().runningJob()
  await setClock(session, '2030-01-01T00:00:31Z')

  expect(await textsOf(job_id)).toEqual([
    [
      'LEASE_OVER',
      'its holder worker-1 has not renewed the lease, which was over at 2030-01-01 00:00:30 UTC: any worker takes it back',
    ],
  ])
})

test('its attempts are used up', async () => {
  const lease = await given().runningJob({ max_attempts: 1 })
  await ask(session, 'select * from holdfast.fail_jobs($1)', [settlement({ ...lease, error: { message: 'no route' } })])

  expect(await textsOf(lease.job_id)).toEqual([
    ['ATTEMPTS_USED_UP', 'all 1 attempts are used up; the last one failed at 2030-01-01 00:00:00 UTC: no route'],
  ])
})

test.each(['completed', 'failed', 'cancelled', 'superseded'] as const)('it is %s', async (state) => {
  const { job_id } = await given().finishedJob(state)

  const [reason, ...more] = await textsOf(job_id)
  expect(more).toEqual([])
  expect(reason?.[0]).toBe('FINISHED')
  expect(reason?.[1]).toMatch(`it is ${state} since 2030-01-01 00:00:00 UTC`)
})

test('all reasons are returned at once', async () => {
  const id = await given().pendingJob({ run_at: LATER })
  await ask(session, `select holdfast.pause_queue('default', 'ada')`)

  expect((await textsOf(id)).map(([code]) => code)).toEqual(['NOT_DUE', 'QUEUE_PAUSED', 'NO_WORKER'])
})

test('a job that does not exist is refused by its code', async () => {
  await expect(explain('99999')).rejects.toMatchObject({ code: 'JH002' })
})

test('a viewer may ask, in any time zone, and gets the same sentence', async () => {
  const id = await given().pendingJob({ run_at: LATER })
  const viewer = await db.connect('admin')
  await setClock(viewer, NOW)
  await viewer.query(`set timezone = 'Asia/Tokyo'; set role holdfast_viewer`)

  const { text } = await askRow(viewer, `select text from holdfast.explain_job($1) where code = 'NOT_DUE'`, [id])
  expect(text).toBe('it is not due until 2030-01-01 01:00:00 UTC')
})
