// An idle worker sends few statements, and still notices everything.
import { afterEach, expect, test } from 'vitest'
import { defineJob, defineSchedule } from '../../src/index.js'
import { heard, until, useHoldfast } from '../support/holdfast.js'
import { countStatements, type StatementCounter } from '../support/statement-counter.js'

const bench = useHoldfast()
const job = defineJob({ type: 'task', run: async () => {} })

const counters: StatementCounter[] = []
afterEach(async () => {
  await bench.closeAll()
  await Promise.all(counters.splice(0).map((counter) => counter.close()))
})

const HEARTBEAT = 'record_heartbeat_v1'

async function idleWorker(options: { schedules?: ReturnType<typeof defineSchedule>[] } = {}) {
  const counter = await countStatements(bench.database.url)
  counters.push(counter)
  const holdfast = bench.open({ database: counter.url, jobs: [job], listen: true, ...options })
  const asleep = heard(holdfast, 'worker.asleep')
  await holdfast.start()
  await asleep
  return { holdfast, counter }
}

async function heartbeats(counter: StatementCounter, n: number): Promise<void> {
  const before = counter.sentWith(HEARTBEAT)
  await until(async () => counter.sentWith(HEARTBEAT) >= before + n)
}

test('an idle worker sends at most two statements a heartbeat, all included', async () => {
  const { counter } = await idleWorker()
  const before = counter.sent()

  await heartbeats(counter, 5)

  expect(counter.sent() - before).toBeLessThanOrEqual(10)
})

test('a schedule that is not due costs an idle worker nothing', async () => {
  const yearly = defineSchedule({ jobKey: 'yearly', job, cron: '0 0 1 1 *' })
  const { counter } = await idleWorker({ schedules: [yearly] })
  const before = counter.sent()

  await heartbeats(counter, 5)

  expect(counter.sent() - before).toBeLessThanOrEqual(10)
})

test('an idle worker reaps the job of a dead worker', async () => {
  const { holdfast } = await idleWorker()
  const { id } = await bench.open({ jobs: [job] }).enqueue(job, null, { queue: 'elsewhere' })
  const reaped = heard(holdfast, 'job.reaped')

  await bench.look(`select from holdfast.claim_one($1, 'gone/1')`, [id])
  await bench.look(`update holdfast.lease set locked_until = clock_timestamp() where job_id = $1`, [id])

  expect(await reaped).toEqual({ jobs: [{ id, state: 'pending' }] })
})

test('an idle worker notices a schedule that an operator makes, and a bulk operation', async () => {
  const { holdfast } = await idleWorker()
  const operator = bench.open({ jobs: [job] })
  const fired = heard(holdfast, 'schedule.fired')

  await operator.schedules.create({ jobKey: 'often', job: 'task', every: '1s' })
  const { id } = await operator.operator.bulk.start({ operation: 'retry', filter: { states: ['failed'] } })

  expect(await fired).toMatchObject({ jobKey: 'often' })
  await until(async () => (await operator.operator.bulk.find(id))?.state === 'completed')
})
