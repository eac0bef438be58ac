// The facts that a Holdfast tells, in the order in which they happen.
import { expect, test } from 'vitest'
import { defineJob, type EventName } from '../../src/index.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const NAMES = [
  'job.enqueued',
  'job.claimed',
  'job.completed',
  'job.failed',
  'job.snoozed',
  'job.cancelled',
  'job.released',
  'job.lost',
  'worker.started',
  'worker.stopped',
  'worker.fault',
] as const satisfies EventName[]

test('the life of a job is told in order, each time with its attempt', async () => {
  const flaky = defineJob({
    type: 'flaky',
    retry: { base: 0, max: 0 },
    run(_, { job }) {
      if (job.attempts === 1) throw new Error('once')
    },
  })
  const holdfast = bench.open({ jobs: [flaky] })
  const told: string[] = []
  for (const name of NAMES) {
    holdfast.on(name, (fact) => told.push('attempt' in fact ? `${name} ${fact.attempt}` : name))
  }
  const handle = await holdfast.enqueue(flaky, {})
  await holdfast.start()

  await handle.result()
  await holdfast.stop()

  expect(told).toEqual([
    'job.enqueued',
    'worker.started',
    'job.claimed 1',
    'job.failed 1',
    'job.claimed 2',
    'job.completed 2',
    'worker.stopped',
  ])
})

test('a fact names the job, its type, its queue and how long it ran', async () => {
  const job = defineJob({ type: 'job', queue: 'bulk', run: () => {} })
  const holdfast = bench.open({ jobs: [job] })
  const completed = heard(holdfast, 'job.completed')
  await holdfast.start()

  const { id } = await holdfast.enqueue(job, {})

  expect(await completed).toEqual({ id, type: 'job', queue: 'bulk', attempt: 1, ms: expect.any(Number) })
})

test('a listener that throws does not disturb the worker and is told as a fault', async () => {
  const job = defineJob({ type: 'job', run: () => 'fine' })
  const holdfast = bench.open({ jobs: [job] })
  const fault = heard(holdfast, 'worker.fault')
  holdfast.on('job.claimed', () => {
    throw new Error('a bad listener')
  })
  await holdfast.start()

  const handle = await holdfast.enqueue(job, {})

  expect(await handle.result()).toBe('fine')
  expect(await fault).toMatchObject({ doing: 'a listener of job.claimed', error: { message: 'a bad listener' } })
})

test('who stops hearing is told no more', async () => {
  const job = defineJob({ type: 'job' })
  const holdfast = bench.open({ jobs: [job] })
  const told: unknown[] = []
  const off = holdfast.on('job.enqueued', (fact) => told.push(fact))
  await holdfast.enqueue(job, 1)

  off()
  await holdfast.enqueue(job, 2)

  expect(told).toHaveLength(1)
})

test('a handler reports how far it is, and readers see it while it runs', async () => {
  const seen: unknown[] = []
  const job = defineJob({
    type: 'job',
    async run(_, { progress, job: { id } }) {
      await progress(0.25, 'rows 1,000 of 4,000')
      const { progress: share, statusMessage } = (await holdfast.find(id)) ?? {}
      seen.push({ share, statusMessage })
      await progress(7, 'nul \u0000, half \udfff')
      const later = await holdfast.find(id)
      seen.push({ share: later?.progress, statusMessage: later?.statusMessage })
    },
  })
  const holdfast = bench.open({ jobs: [job] })
  const handle = await holdfast.enqueue(job, {})

  await holdfast.runJob(handle.id)

  expect((await handle.read()).error).toBeNull()
  expect(seen).toEqual([
    { share: 0.25, statusMessage: 'rows 1,000 of 4,000' },
    { share: 1, statusMessage: 'nul \ufffd, half \ufffd' },
  ])
})

test('a handler’s log lines carry the job', async () => {
  const lines: unknown[] = []
  const say = (fields: object, message?: string) => void lines.push({ ...fields, message })
  const job = defineJob({ type: 'job', run: (_, { log }) => log.info({ rows: 3 }, 'loaded') })
  const holdfast = bench.open({ jobs: [job], logger: { debug: say, info: say, warn: say, error: say } })
  const { id } = await holdfast.enqueue(job, {})

  await holdfast.runJob(id)

  expect(lines).toEqual([{ jobId: id, type: 'job', attempt: 1, rows: 3, message: 'loaded' }])
})
