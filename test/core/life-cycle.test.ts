// Starting, stopping and closing; running one job by its id.
import { expect, test } from 'vitest'
import { createHoldfast, defineJob } from '../../src/index.js'
import { aborted, gate } from '../support/gate.js'
import { heard, heardTimes, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

/** A type of job that holds its slot until it is let go, whatever its signal says. */
function holdingJob() {
  const started = gate()
  const mayEnd = gate()
  const signals: AbortSignal[] = []
  const job = defineJob({
    type: 'holding',
    async run(_, { signal }) {
      signals.push(signal)
      started.open()
      await mayEnd.opened
      return 'done'
    },
  })
  return { job, signals, started: started.opened, letGo: () => mayEnd.open() }
}

test('stop waits for what runs and leaves it completed', async () => {
  const holding = holdingJob()
  const holdfast = bench.open({ jobs: [holding.job], grace: '20s' })
  await holdfast.start()
  const handle = await holdfast.enqueue(holding.job, {})
  await holding.started

  const stopped = holdfast.stop()
  holding.letGo()
  await stopped

  expect(await handle.read()).toMatchObject({ state: 'completed', output: 'done', attempts: 1 })
  expect(holding.signals.map((signal) => signal.aborted)).toEqual([false])
})

test('after the grace a run is told SHUTDOWN and its job given back without counting the attempt', async () => {
  const started = gate()
  const reason = gate<{ code?: unknown }>()
  const endless = defineJob({
    type: 'endless',
    async run(_, { signal }) {
      started.open()
      reason.open(await aborted(signal))
      throw new Error('interrupted')
    },
  })
  const holdfast = bench.open({ jobs: [endless], grace: 0 })
  const released = heard(holdfast, 'job.released')
  await holdfast.start()
  const handle = await holdfast.enqueue(endless, {})
  await started.opened

  await holdfast.stop()

  expect((await reason.opened).code).toBe('SHUTDOWN')
  expect(await released).toMatchObject({ id: handle.id, attempt: 1 })
  expect(await handle.read()).toMatchObject({ state: 'pending', attempts: 0, error: null })
})

test('a run that ignores its signal is given back all the same and cannot complete any more', async () => {
  const holding = holdingJob()
  const holdfast = bench.open({ jobs: [holding.job], grace: 0 })
  await holdfast.start()
  const handle = await holdfast.enqueue(holding.job, {})
  await holding.started

  await holdfast.stop()
  expect(await handle.read()).toMatchObject({ state: 'pending', attempts: 0 })
  holding.letGo()
  const other = bench.open({ jobs: [defineJob({ type: 'holding', run: () => 'by another' })] })
  await other.runJob(handle.id)

  expect(await handle.result()).toBe('by another')
})

test('stop gives claimed jobs that were not started back without counting the attempt', async () => {
  const holding = holdingJob()
  const holdfast = bench.open({ jobs: [echo, holding.job], concurrency: 1, grace: '20s' })
  await holdfast.start()
  // Short runs let the worker learn that prefetching pays.
  const quick = await holdfast.enqueueMany(echo, Array(50).fill('quick'))
  await Promise.all(quick.map((handle) => handle.result()))
  const stocked = heardTimes(holdfast, 'job.claimed', 2)
  const first = await holdfast.enqueue(holding.job, {})
  await holding.started
  const rest = await holdfast.enqueueMany(echo, Array(100).fill('stocked'))
  await stocked

  const stopped = holdfast.stop()
  holding.letGo()
  await stopped

  expect((await first.read()).state).toBe('completed')
  const states = await Promise.all(rest.map((handle) => handle.read()))
  expect(new Set(states.map(({ state, attempts }) => `${state} ${attempts}`))).toEqual(new Set(['pending 0']))
  expect(states.some(({ token }) => token !== '0')).toBe(true)
})

test('a stopped Holdfast starts again', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  await holdfast.start()
  await holdfast.stop()
  const handle = await holdfast.enqueue(echo, 'again')

  await holdfast.start()

  expect(await handle.result()).toBe('again')
})

test('a Holdfast that is stopped while it starts leaves no worker behind, and starts again', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const starting = holdfast.start()

  await holdfast.stop()

  await starting
  expect(await bench.look('select id from holdfast.worker')).toEqual([])
  const handle = await holdfast.enqueue(echo, 'again')
  await holdfast.start()
  expect(await handle.result()).toBe('again')
})

test('starting twice starts one worker, and both wait for it', async () => {
  const holdfast = bench.open({ jobs: [echo] })

  void holdfast.start()
  await holdfast.start()

  expect(await bench.look('select queues, types, concurrency from holdfast.worker')).toEqual([
    { queues: ['default'], types: ['echo'], concurrency: 10 },
  ])
})

test('a stopped worker leaves no row behind', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  await holdfast.start()

  await holdfast.stop()

  expect(await bench.look('select id from holdfast.worker')).toEqual([])
})

test('stopping or closing what was never started, or twice, is fine', async () => {
  const idle = bench.open({ jobs: [echo] })
  const busy = bench.open({ jobs: [echo] })
  await busy.start()

  await idle.stop()
  await idle.close()
  await idle.close()
  await busy.close()
  await busy.close()
})

test('closing while another stop is under way waits for it', async () => {
  const holding = holdingJob()
  const holdfast = bench.open({ jobs: [holding.job], grace: '20s' })
  await holdfast.start()
  const handle = await holdfast.enqueue(holding.job, {})
  await holding.started

  const stopped = holdfast.stop()
  const closed = holdfast.close()
  holding.letGo()
  await Promise.all([stopped, closed])

  const reader = bench.open({ jobs: [] })
  expect(await reader.find(handle.id)).toMatchObject({ state: 'completed', output: 'done' })
})

test('a Holdfast without handlers starts and runs nothing', async () => {
  const holdfast = bench.open({ jobs: [defineJob({ type: 'contract' })] })
  const handle = await holdfast.enqueue('contract', {})

  await holdfast.start()
  await holdfast.stop()

  expect(await handle.read()).toMatchObject({ state: 'pending', attempts: 0 })
})

test('await using closes at the end of the block', async () => {
  const told: string[] = []
  {
    await using holdfast = bench.open({ jobs: [echo] })
    holdfast.on('worker.stopped', () => told.push('stopped'))
    await holdfast.start()
    await (await holdfast.enqueue(echo, 1)).result()
    expect(told).toEqual([])
  }

  expect(told).toEqual(['stopped'])
})

test('a database of the caller’s own stays open', async () => {
  const { pool, pglite } = bench.database
  const holdfast = createHoldfast({ database: pglite ?? pool, jobs: [echo] })
  await holdfast.start()
  await (await holdfast.enqueue(echo, 1)).result()

  await holdfast.close()

  const answer = pglite ? await pglite.query('select 1 as one') : await pool.query('select 1 as one')
  expect(answer.rows).toEqual([{ one: 1 }])
})

test('a worker tells that it started and stopped', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const started = heard(holdfast, 'worker.started')
  const stopped = heard(holdfast, 'worker.stopped')

  await holdfast.start()
  await holdfast.stop()

  const { worker, queues, types } = await started
  expect({ queues, types }).toEqual({ queues: ['default'], types: ['echo'] })
  expect(await stopped).toEqual({ worker })
})

test('runJob claims, runs and settles one job', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const { id } = await holdfast.enqueue(echo, 'hello')
  const other = await holdfast.enqueue(echo, 'untouched')

  expect(await holdfast.runJob(id)).toBe(true)

  expect(await holdfast.find(id)).toMatchObject({ state: 'completed', output: 'hello' })
  expect((await other.read()).state).toBe('pending')
})

test('runJob is false when the job is finished, not due, unknown, or of a type without a handler here', async () => {
  const holdfast = bench.open({ jobs: [echo, defineJob({ type: 'elsewhere' })] })
  const finished = await holdfast.enqueue('echo', {})
  await holdfast.runJob(finished.id)
  const future = await holdfast.enqueue('echo', {}, { delay: '1h' })
  const foreign = await holdfast.enqueue('elsewhere', {})

  const answers = []
  for (const id of [finished.id, future.id, foreign.id, '999999999']) answers.push(await holdfast.runJob(id))

  expect(answers).toEqual([false, false, false, false])
  expect(await foreign.read()).toMatchObject({ state: 'pending', attempts: 0 })
})

test('of many that run one job by its id exactly one does', async () => {
  const one = bench.open({ jobs: [echo] })
  const two = bench.open({ jobs: [echo] })
  const { id } = await one.enqueue(echo, {})

  const answers = await Promise.all([one, two, one, two, one].map((holdfast) => holdfast.runJob(id)))

  expect(answers.filter(Boolean)).toHaveLength(1)
  expect(await one.find(id)).toMatchObject({ state: 'completed', attempts: 1 })
})

test('a failing run is true for runJob: it was run here', async () => {
  const broken = defineJob({ type: 'broken', retry: { attempts: 1 }, run: () => Promise.reject(new Error('no')) })
  const holdfast = bench.open({ jobs: [broken] })
  const handle = await holdfast.enqueue(broken, {})

  expect(await holdfast.runJob(handle.id)).toBe(true)
  expect((await handle.read()).state).toBe('failed')
})

test('options that no worker can have are refused at once', () => {
  for (const options of [
    { concurrency: 0 },
    { concurrency: 1.5 },
    { queues: { bulk: 0 } },
    { queues: ['\u0000'] },
    { poll: '0ms' },
    { poll: '30d' },
    { grace: '30d' },
    { schema: 'Holdfast; drop' },
  ] as const) {
    expect(() => createHoldfast({ jobs: [echo], ...options })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  }
  expect(() => createHoldfast({ jobs: [echo, echo] })).toThrow(expect.objectContaining({ code: 'DUPLICATE_TYPE' }))
})
