// An instrument wraps each enqueue and each run; the trace that it adds arrives with the job.
import { expect, test } from 'vitest'
import { defineJob, type Instrument } from '../../src/index.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

const hello = defineJob({ type: 'hello', queue: 'mail', run: () => 'done' })

function onlooker(trace: string | undefined): Instrument & { seen: unknown[] } {
  const seen: unknown[] = []
  return {
    seen,
    async enqueue(fact, send) {
      seen.push(fact)
      return send(trace)
    },
    async run(job, start) {
      seen.push(`start ${job.trace}`)
      const outcome = await start()
      seen.push(outcome.kind)
      return outcome
    },
  }
}

test('it sees enqueues and runs, and a worker’s run has the trace of its enqueue', async () => {
  const instrument = onlooker(TRACE)
  const holdfast = bench.open({ jobs: [hello], instrument })
  const completed = heard(holdfast, 'job.completed')
  const handle = await holdfast.enqueue(hello, {})
  await holdfast.start()
  await completed

  expect(instrument.seen).toEqual([{ type: 'hello', queue: 'mail', jobs: 1 }, `start ${TRACE}`, 'completed'])
  expect((await handle.read()).trace).toBe(TRACE)
})

test('a job without a trace runs without one, and what a caller gives goes before what the instrument sends', async () => {
  const instrument = onlooker(undefined)
  const holdfast = bench.open({ jobs: [hello], instrument })
  const plain = await holdfast.enqueue(hello, {})
  const given = await holdfast.enqueue(hello, {}, { trace: TRACE })
  await holdfast.runJob(plain.id)
  await holdfast.runJob(given.id)

  expect(instrument.seen.filter((each) => typeof each === 'string')).toEqual([
    'start null',
    'completed',
    `start ${TRACE}`,
    'completed',
  ])
})

test.each<[string, Instrument['run']]>([
  ['throws before the run', () => Promise.reject(new Error('no tracer'))],
  [
    'throws after the run',
    async (_, start) => {
      await start()
      throw new Error('no tracer')
    },
  ],
])('a job runs once and completes beside an instrument that %s', async (_, run) => {
  let runs = 0
  const counted = defineJob({ type: 'counted', run: () => (runs += 1) })
  const instrument: Instrument = { enqueue: (_fact, send) => send(undefined), run }
  const holdfast = bench.open({ jobs: [counted], instrument })
  const fault = heard(holdfast, 'worker.fault')
  const handle = await holdfast.enqueue(counted, {})
  await holdfast.start()

  expect(await handle.result()).toBe(1)
  expect(runs).toBe(1)
  expect(await fault).toMatchObject({ doing: expect.stringContaining('the instrument') })
})

test('a trace that is none is refused before anything is stored', async () => {
  const holdfast = bench.open({ jobs: [hello] })

  for (const trace of ['', 'x', TRACE.toUpperCase(), 7 as unknown as string]) {
    await expect(holdfast.enqueue(hello, {}, { trace })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  }
  expect(await bench.look('select id from holdfast.jobs')).toEqual([])
})

test('measures tell what waits and for how long, who works, and which schedules are late', async () => {
  const holdfast = bench.open({ jobs: [hello] })
  await holdfast.pause('mail')
  await holdfast.enqueueMany(hello, [{}, {}], { runAt: new Date(Date.now() - 60_000) })
  await holdfast.enqueue(hello, {}, { delay: '1h' })
  expect(await holdfast.measure()).toMatchObject({ workers: 0, slots: 0, scheduleLagMs: 0 })
  await holdfast.start()

  const { queues, workers, slots } = await holdfast.measure()

  expect({ workers, slots }).toEqual({ workers: 1, slots: 10 })
  expect(queues).toEqual([{ queue: 'mail', due: 2, running: 0, oldestAgeMs: expect.any(Number), isPaused: true }])
  expect(queues[0]?.oldestAgeMs).toBeGreaterThanOrEqual(60_000)
})
