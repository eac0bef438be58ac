// What Prometheus scrapes, from a real worker on a real database.
import { spawnSync } from 'node:child_process'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { prometheus } from '../../src/instruments/prometheus.js'
import { heard, heardTimes, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const hello = defineJob({ type: 'hello', queue: 'mail', run: () => {} })
const broken = defineJob({
  type: 'broken',
  queue: 'mail',
  retry: { attempts: 2, base: 0, max: 0 },
  run() {
    throw new Error('no')
  },
})

/** The value of one series; undefined when it is not there. */
function seriesIn(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

test('runs are counted and measured by queue, type and outcome', async () => {
  const holdfast = bench.open({ jobs: [hello, broken] })
  const metrics = prometheus(holdfast)
  const completed = heardTimes(holdfast, 'job.completed', 3)
  const failed = heard(holdfast, 'job.failed', ({ isFinal }) => isFinal)
  await holdfast.enqueueMany(hello, [{}, {}, {}])
  await holdfast.enqueue(broken, {})
  await holdfast.start()
  await Promise.all([completed, failed])

  const text = await metrics.text()

  const labels = 'queue="mail",type="hello"'
  expect(seriesIn(text, `holdfast_jobs_enqueued_total{${labels}}`)).toBe(3)
  expect(seriesIn(text, `holdfast_jobs_finished_total{${labels},outcome="completed"}`)).toBe(3)
  expect(seriesIn(text, 'holdfast_jobs_finished_total{queue="mail",type="broken",outcome="failed"}')).toBe(1)
  expect(seriesIn(text, 'holdfast_job_retries_total{queue="mail",type="broken"}')).toBe(1)
  expect(seriesIn(text, `holdfast_job_wait_seconds_count{${labels}}`)).toBe(3)
  expect(seriesIn(text, `holdfast_job_run_seconds_count{${labels}}`)).toBe(3)
  expect(seriesIn(text, 'holdfast_claim_duration_seconds_count{queue="mail"}')).toBeGreaterThan(0)
})

test('gauges show what waits, for how long, and who could do it', async () => {
  const holdfast = bench.open({ jobs: [hello] })
  const metrics = prometheus(holdfast)
  await holdfast.pause('mail')
  await holdfast.enqueueMany(hello, [{}, {}], { runAt: new Date(Date.now() - 60_000) })
  await holdfast.enqueue(hello, {}, { delay: '1h' })
  await holdfast.start()

  const text = await metrics.text()

  expect(seriesIn(text, 'holdfast_jobs{queue="mail",state="due"}')).toBe(2)
  expect(seriesIn(text, 'holdfast_jobs{queue="mail",state="running"}')).toBe(0)
  expect(seriesIn(text, 'holdfast_queue_oldest_age_seconds{queue="mail"}')).toBeGreaterThanOrEqual(60)
  expect(seriesIn(text, 'holdfast_queue_paused{queue="mail"}')).toBe(1)
  expect(seriesIn(text, 'holdfast_workers')).toBe(1)
  expect(seriesIn(text, 'holdfast_worker_slots{state="free"}')).toBe(10)
  expect(seriesIn(text, 'holdfast_schedule_lag_seconds')).toBe(0)
})

test('a scrape while the database cannot be read still has its counters, and no stale gauges', async () => {
  const holdfast = bench.open({ jobs: [hello] })
  const metrics = prometheus({
    on: (name, listener) => holdfast.on(name, listener),
    measure: () => Promise.reject(new Error('gone')),
  })
  await holdfast.enqueue(hello, {})

  const text = await metrics.text()

  expect(seriesIn(text, 'holdfast_jobs_enqueued_total{queue="mail",type="hello"}')).toBe(1)
  expect(seriesIn(text, 'holdfast_measure_errors_total')).toBe(1)
  expect(seriesIn(text, 'holdfast_workers')).toBeUndefined()
})

test('queue names without end make no series without end', async () => {
  const holdfast = bench.open({ jobs: [hello] })
  const metrics = prometheus(holdfast)
  for (let n = 0; n < 210; n += 1) await holdfast.enqueue(hello, {}, { queue: `tenant-${n}` })

  const text = await metrics.text()

  expect(text.match(/^holdfast_jobs_enqueued_total\{/gm)).toHaveLength(201)
  expect(seriesIn(text, 'holdfast_jobs_enqueued_total{queue="other",type="hello"}')).toBe(10)
})

test('the application’s own registry can hold them, and gets rid of them', async () => {
  const register = new Registry()
  const metrics = prometheus(bench.open({ jobs: [hello] }), { register })

  const answer = await metrics.handle()
  expect(answer.headers.get('content-type')).toBe(register.contentType)
  expect(await answer.text()).toContain('# TYPE holdfast_jobs gauge')
  metrics.stop()

  expect(await register.metrics()).not.toContain('holdfast_')
})

const promtool = spawnSync('promtool', ['--version']).error === undefined
if (!promtool) console.log('the metrics are not linted: promtool is not installed')

test.runIf(promtool)('promtool has nothing to say against them', async () => {
  const holdfast = bench.open({ jobs: [hello, broken] })
  const metrics = prometheus(holdfast)
  const ids = [(await holdfast.enqueue(hello, {})).id, (await holdfast.enqueue(broken, {})).id]
  for (const id of ids) await holdfast.runJob(id)
  await holdfast.start()

  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await metrics.text() })

  expect(`${stdout}${stderr}`).toBe('')
  expect(status).toBe(0)
})
