// While PostgreSQL cannot be reached, every failed operation is a lifecycle event and a metric, and the log stays readable.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { prometheus } from '../../src/instruments/prometheus.js'
import { heard, heardTimes, useHoldfast } from '../support/holdfast.js'
import { countStatements } from '../support/statement-counter.js'

const bench = useHoldfast()

test('a worker whose database is away logs one line per cause, not one per failed operation', async () => {
  const counter = await countStatements(bench.database.url)
  const lines: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (_: object, line = '') => void lines.push(line) }
  const queues = { a: 1, b: 1, c: 1, d: 1 }
  const jobs = Object.keys(queues).map((queue) => defineJob({ type: queue, queue, run: () => queue }))
  const holdfast = bench.open({ database: counter.url, pooler: false, jobs, queues, logger })
  const metrics = prometheus(holdfast)
  await holdfast.start()
  const faults = heardTimes(holdfast, 'worker.fault', 20)
  const maintenance = heard(holdfast, 'worker.fault', ({ doing }) => doing === 'polling for maintenance')

  await counter.close()
  const told = await faults
  await maintenance

  expect(lines.length).toBeGreaterThan(0)
  expect(lines.length).toBeLessThanOrEqual(new Set(told.map(({ error }) => String(error))).size)
  expect(lines.length).toBeLessThan(10)
  const counted = await metrics.register.getSingleMetric('holdfast_worker_faults_total')?.get()
  expect(counted?.values[0]?.value).toBeGreaterThanOrEqual(20)
})
