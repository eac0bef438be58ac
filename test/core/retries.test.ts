// Runs that do not complete are retried, snoozed, failed for good, cancelled or timed out.
import { expect, test } from 'vitest'
import { cancel, defineJob, NonRetryable, RetryAfter, snooze } from '../../src/index.js'
import { aborted } from '../support/gate.js'
import { heard, heardTimes, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const HOUR = 3_600_000
const AT_ONCE = { base: 0, max: 0 }

test('a job that throws is run again until it completes', async () => {
  const flaky = defineJob({
    type: 'flaky',
    retry: { attempts: 5, ...AT_ONCE },
    run(_, { job }) {
      if (job.attempts < 3) throw new Error(`attempt ${job.attempts}`)
      return `done at attempt ${job.attempts}`
    },
  })
  const holdfast = bench.open({ jobs: [flaky] })
  const failures = heardTimes(holdfast, 'job.failed', 2)
  await holdfast.start()

  const handle = await holdfast.enqueue(flaky, {})

  expect(await handle.result()).toBe('done at attempt 3')
  expect((await failures).map(({ attempt, isFinal, failure }) => [attempt, isFinal, failure.message])).toEqual([
    [1, false, 'attempt 1'],
    [2, false, 'attempt 2'],
  ])
  expect(await bench.look('select attempt, verdict from holdfast.attempt order by attempt')).toEqual([
    { attempt: 1, verdict: 'failed' },
    { attempt: 2, verdict: 'failed' },
  ])
})

test('a job fails for good when its attempts are used up', async () => {
  let runs = 0
  const hopeless = defineJob({
    type: 'hopeless',
    retry: { attempts: 3, ...AT_ONCE },
    run() {
      throw new Error(`run ${++runs}`)
    },
  })
  const holdfast = bench.open({ jobs: [hopeless] })
  const failures = heardTimes(holdfast, 'job.failed', 3)
  await holdfast.start()

  const handle = await holdfast.enqueue(hopeless, {})

  expect((await failures).map(({ isFinal }) => isFinal)).toEqual([false, false, true])
  expect(await handle.read()).toMatchObject({ state: 'failed', attempts: 3, error: { message: 'run 3' } })
  expect(runs).toBe(3)
})

test('a retried job waits by the backoff of its type', async () => {
  const patient = defineJob({
    type: 'patient',
    retry: { base: '1h', max: '10h' },
    run() {
      throw new Error('not now')
    },
  })
  const holdfast = bench.open({ jobs: [patient] })
  const failed = heard(holdfast, 'job.failed')
  await holdfast.start()

  const handle = await holdfast.enqueue(patient, {})
  await failed

  const job = await handle.read()
  expect(job).toMatchObject({ state: 'pending', attempts: 1, output: null })
  const waits = job.runAt.getTime() - job.createdAt.getTime()
  expect(waits).toBeGreaterThanOrEqual(HOUR / 2)
})

test('RetryAfter sets the wait before the next attempt', async () => {
  const limited = defineJob({
    type: 'limited',
    retry: AT_ONCE,
    run() {
      throw new RetryAfter('3h', 'rate limit reached')
    },
  })
  const holdfast = bench.open({ jobs: [limited] })
  const handle = await holdfast.enqueue(limited, {})

  expect(await holdfast.runJob(handle.id)).toBe(true)

  const job = await handle.read()
  expect(job).toMatchObject({ state: 'pending', attempts: 1 })
  expect(job.runAt.getTime() - job.createdAt.getTime()).toBeGreaterThanOrEqual(3 * HOUR)
  expect(await holdfast.runJob(handle.id)).toBe(false)
})

test('RetryAfter at the last attempt fails for good', async () => {
  const limited = defineJob({
    type: 'limited',
    retry: { attempts: 1 },
    run() {
      throw new RetryAfter('3h', 'rate limit reached')
    },
  })
  const holdfast = bench.open({ jobs: [limited] })
  const handle = await holdfast.enqueue(limited, {})

  await holdfast.runJob(handle.id)

  expect(await handle.read()).toMatchObject({ state: 'failed', error: { message: 'rate limit reached' } })
})

test('NonRetryable fails for good although attempts are left', async () => {
  const cause = new Error('404')
  const gone = defineJob({
    type: 'gone',
    retry: { attempts: 10 },
    run() {
      throw new NonRetryable('no such file', { cause })
    },
  })
  const holdfast = bench.open({ jobs: [gone] })
  const failed = heard(holdfast, 'job.failed')
  const handle = await holdfast.enqueue(gone, {})

  await holdfast.runJob(handle.id)

  expect((await failed).isFinal).toBe(true)
  expect(await handle.read()).toMatchObject({
    state: 'failed',
    attempts: 1,
    maxAttempts: 10,
    error: { message: 'no such file', cause: { message: '404' } },
  })
})

test('a snoozed job comes back later with its attempt given back', async () => {
  const later = defineJob({ type: 'later', retry: { attempts: 1 }, run: () => snooze('2h') })
  const holdfast = bench.open({ jobs: [later] })
  const snoozed = heard(holdfast, 'job.snoozed')
  const handle = await holdfast.enqueue(later, {})

  await holdfast.runJob(handle.id)

  expect(await snoozed).toMatchObject({ id: handle.id, attempt: 1, delayMs: 2 * HOUR })
  const job = await handle.read()
  expect(job).toMatchObject({ state: 'pending', attempts: 0, error: null })
  expect(job.runAt.getTime() - job.createdAt.getTime()).toBeGreaterThanOrEqual(2 * HOUR)
})

test('a job may snooze more often than it has attempts', async () => {
  let runs = 0
  const polling = defineJob({ type: 'polling', retry: { attempts: 1 }, run: () => (++runs < 5 ? snooze(0) : runs) })
  const holdfast = bench.open({ jobs: [polling] })
  await holdfast.start()

  const handle = await holdfast.enqueue(polling, {})

  expect(await handle.result()).toBe(5)
  expect((await handle.read()).attempts).toBe(1)
})

test('a job whose handler returns cancel ends as cancelled', async () => {
  const unwanted = defineJob({ type: 'unwanted', run: () => cancel('customer gone') })
  const holdfast = bench.open({ jobs: [unwanted] })
  const told = heard(holdfast, 'job.cancelled')
  const handle = await holdfast.enqueue(unwanted, {})

  await holdfast.runJob(handle.id)

  expect(await told).toMatchObject({ id: handle.id, reason: 'customer gone' })
  expect(await handle.read()).toMatchObject({ state: 'cancelled', error: { message: 'customer gone' } })
})

test('a run past its timeout is told by its signal and fails with TIMED_OUT', async () => {
  const stuck = defineJob({
    type: 'stuck',
    timeout: '10ms',
    retry: { attempts: 1 },
    async run(_, { signal }) {
      await aborted(signal)
      signal.throwIfAborted()
    },
  })
  const holdfast = bench.open({ jobs: [stuck] })
  const handle = await holdfast.enqueue(stuck, {})

  await holdfast.runJob(handle.id)

  expect(await handle.read()).toMatchObject({
    state: 'failed',
    error: { code: 'TIMED_OUT', message: `job ${handle.id} ran longer than 10 ms` },
  })
})

test('what a handler throws after its timeout is kept as the cause', async () => {
  const stuck = defineJob({
    type: 'stuck',
    timeout: '10ms',
    retry: { attempts: 1 },
    async run(_, { signal }) {
      await aborted(signal)
      throw new Error('the download stopped at 40 %')
    },
  })
  const holdfast = bench.open({ jobs: [stuck] })
  const handle = await holdfast.enqueue(stuck, {})

  await holdfast.runJob(handle.id)

  expect((await handle.read()).error).toMatchObject({
    code: 'TIMED_OUT',
    cause: { message: 'the download stopped at 40 %' },
  })
})

test('a run that completes after its timeout although told to stop is completed', async () => {
  const tardy = defineJob({
    type: 'tardy',
    timeout: '10ms',
    async run(_, { signal }) {
      await aborted(signal)
      return 'finished anyway'
    },
  })
  const holdfast = bench.open({ jobs: [tardy] })
  const handle = await holdfast.enqueue(tardy, {})

  await holdfast.runJob(handle.id)

  expect(await handle.result()).toBe('finished anyway')
})

test('a timeout that no timer can hold is refused', () => {
  for (const timeout of ['25d', '0s', -1] as const) {
    expect(() => defineJob({ type: 'stuck', timeout })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  }
})
