// Waiting for a job's output, and what is thrown when there will be none.
import { expect, test } from 'vitest'
import { cancel, defineJob, isHoldfastError, NonRetryable } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

test('the result of a finished job is there at once, for any process', async () => {
  const worker = bench.open({ jobs: [echo] })
  const other = bench.open({ jobs: [defineJob({ type: 'echo' })] })
  const handle = await other.enqueue('echo', ['a', { b: null }])
  await worker.runJob(handle.id)

  expect(await handle.result()).toEqual(['a', { b: null }])
  expect(await handle.result()).toEqual(['a', { b: null }])
})

test('a failed job throws JOB_FAILED with what failed', async () => {
  const broken = defineJob({
    type: 'broken',
    run() {
      throw new NonRetryable('the customer is gone')
    },
  })
  const holdfast = bench.open({ jobs: [broken] })
  await holdfast.start()
  const handle = await holdfast.enqueue(broken, {})

  const error = await handle.result().catch((thrown: unknown) => thrown)

  expect(isHoldfastError(error, 'JOB_FAILED')).toBe(true)
  expect(error).toMatchObject({
    message: `job ${handle.id} (broken) failed: the customer is gone`,
    details: {
      jobId: handle.id,
      type: 'broken',
      state: 'failed',
      attempts: 1,
      error: { name: 'NonRetryable', message: 'the customer is gone', code: 'NON_RETRYABLE' },
    },
  })
})

test('a job that an operator cancelled throws JOB_CANCELLED with the reason', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const handle = await holdfast.enqueue(echo, {})
  await handle.cancel('not needed')

  await expect(handle.result()).rejects.toMatchObject({
    code: 'JOB_CANCELLED',
    message: expect.stringContaining('not needed'),
    details: { state: 'cancelled', error: { name: 'Cancelled', message: 'not needed' } },
  })
})

test('a job that its handler cancelled throws JOB_CANCELLED with the reason', async () => {
  const picky = defineJob({ type: 'picky', run: () => cancel('no such customer') })
  const holdfast = bench.open({ jobs: [picky] })
  await holdfast.start()

  const handle = await holdfast.enqueue(picky, {})

  await expect(handle.result()).rejects.toMatchObject({
    code: 'JOB_CANCELLED',
    details: { error: { message: 'no such customer' } },
  })
})

test('a superseded job throws JOB_SUPERSEDED', async () => {
  const latest = defineJob({ type: 'latest', key: () => 'k', keyPolicy: 'supersede', run: (n: number) => n })
  const holdfast = bench.open({ jobs: [latest] })
  const older = await holdfast.enqueue(latest, 1)
  const newer = await holdfast.enqueue(latest, 2)
  await holdfast.start()

  expect(await newer.result()).toBe(2)
  await expect(older.result()).rejects.toMatchObject({ code: 'JOB_SUPERSEDED', details: { state: 'superseded' } })
})

test('a job that is not finished in time throws RESULT_TIMEOUT and goes on', async () => {
  const started = gate()
  const mayEnd = gate()
  const slow = defineJob({
    type: 'slow',
    async run() {
      started.open()
      await mayEnd.opened
      return 'at last'
    },
  })
  const holdfast = bench.open({ jobs: [slow] })
  await holdfast.start()
  const handle = await holdfast.enqueue(slow, {})
  await started.opened

  await expect(handle.result({ timeout: '1ms' })).rejects.toMatchObject({
    code: 'RESULT_TIMEOUT',
    details: { jobId: handle.id, state: 'running', timeout: '1ms' },
  })

  mayEnd.open()
  expect(await handle.result()).toBe('at last')
})

test('an aborted signal ends the wait with its reason, before or while waiting', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const handle = await holdfast.enqueue(echo, {})
  const controller = new AbortController()
  const waiting = handle.result({ signal: controller.signal })

  controller.abort(new Error('the request was closed'))

  await expect(waiting).rejects.toThrow('the request was closed')
  await expect(handle.result({ signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late')
  expect((await handle.read()).state).toBe('pending')
})

test('waiting for a job that is gone throws JOB_NOT_FOUND', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const handle = await holdfast.enqueue(echo, {})
  await bench.look('delete from holdfast.ready')
  await bench.look('delete from holdfast.job')

  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', details: { jobId: handle.id } })
  await expect(handle.read()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('a timeout that is no duration is refused', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const handle = await holdfast.enqueue(echo, {})

  // @ts-expect-error
  await expect(handle.result({ timeout: 'soon' })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test('the result of a job retried by an operator is the new one', async () => {
  let runs = 0
  const counter = defineJob({ type: 'counter', run: () => ++runs })
  const holdfast = bench.open({ jobs: [counter] })
  const handle = await holdfast.enqueue(counter, {})
  await holdfast.runJob(handle.id)

  expect(await holdfast.retry(handle.id)).toBe('completed')
  await holdfast.runJob(handle.id)

  expect(await handle.result()).toBe(2)
})
