// The operations of operators: cancel, retry, pause, resume, find.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { aborted, gate } from '../support/gate.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

/** A type of job that runs until its signal aborts, and tells the reason. */
function endlessJob() {
  const started = gate()
  const reason = gate<{ code?: unknown }>()
  const job = defineJob({
    type: 'endless',
    async run(_, { signal }) {
      started.open()
      reason.open(await aborted(signal))
      signal.throwIfAborted()
    },
  })
  return { job, started: started.opened, reason: reason.opened }
}

test('a cancelled pending job is never run', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const cancelled = await holdfast.enqueue(echo, 1)
  const other = await holdfast.enqueue(echo, 2)

  expect(await holdfast.cancel(cancelled.id, { reason: 'a mistake' })).toBe('pending')
  await holdfast.start()
  await other.result()

  expect(await cancelled.read()).toMatchObject({
    state: 'cancelled',
    attempts: 0,
    error: { name: 'Cancelled', message: 'a mistake' },
  })
})

test('cancelling a running job aborts its signal with CANCELLED and keeps its output out', async () => {
  const endless = endlessJob()
  const holdfast = bench.open({ jobs: [endless.job] })
  await holdfast.start()
  const handle = await holdfast.enqueue(endless.job, {})
  await endless.started
  const lost = heard(holdfast, 'job.lost')

  expect(await handle.cancel('stop it')).toBe('running')

  expect((await endless.reason).code).toBe('CANCELLED')
  expect(await lost).toMatchObject({ id: handle.id })
  expect(await handle.read()).toMatchObject({ state: 'cancelled', output: null, error: { message: 'stop it' } })
})

test('a run that returns after its job was cancelled does not complete it', async () => {
  const started = gate()
  const mayReturn = gate()
  const deaf = defineJob({
    type: 'deaf',
    async run() {
      started.open()
      await mayReturn.opened
      return 'too late'
    },
  })
  const holdfast = bench.open({ jobs: [deaf] })
  await holdfast.start()
  const handle = await holdfast.enqueue(deaf, {})
  await started.opened
  await handle.cancel()
  const lost = heard(holdfast, 'job.lost')

  mayReturn.open()

  expect(await lost).toMatchObject({ id: handle.id, code: 'LEASE_LOST' })
  expect(await handle.read()).toMatchObject({ state: 'cancelled', output: null })
})

test('a running job that runJob holds is told of its cancellation too', async () => {
  const endless = endlessJob()
  const holdfast = bench.open({ jobs: [endless.job] })
  const handle = await holdfast.enqueue(endless.job, {})
  const running = holdfast.runJob(handle.id)
  await endless.started

  await handle.cancel()

  expect((await endless.reason).code).toBe('CANCELLED')
  await running
  expect((await handle.read()).state).toBe('cancelled')
})

test('a finished or unknown job cannot be cancelled', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const handle = await holdfast.enqueue(echo, {})
  await holdfast.runJob(handle.id)

  await expect(holdfast.cancel(handle.id)).rejects.toMatchObject({
    code: 'WRONG_STATE',
    details: { state: 'completed' },
  })
  await expect(holdfast.cancel(999_999_999)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('a reason with text that PostgreSQL cannot store is stored in a form that it can', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const one = await holdfast.enqueue(echo, {})
  const two = await holdfast.enqueue(echo, {})

  await holdfast.cancel(one.id, { reason: 'nul \u0000, half \ud800' })
  await two.cancel('x'.repeat(100_000))

  expect((await one.read()).error?.message).toBe('nul \ufffd, half \ufffd')
  expect((await two.read()).error?.message.length).toBeLessThanOrEqual(1000)
})

test('a retried job runs again with fresh attempts', async () => {
  let runs = 0
  const counting = defineJob({
    type: 'counting',
    retry: { attempts: 1 },
    run() {
      if (++runs === 1) throw new Error('once')
      return runs
    },
  })
  const holdfast = bench.open({ jobs: [counting] })
  await holdfast.start()
  const handle = await holdfast.enqueue(counting, {})
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })

  expect(await holdfast.retry(handle.id)).toBe('failed')

  expect(await handle.result()).toBe(2)
  expect(await handle.read()).toMatchObject({ state: 'completed', attempts: 1, error: null })
})

test('a job that is alive or unknown cannot be retried', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const { id } = await holdfast.enqueue(echo, {})

  await expect(holdfast.retry(id)).rejects.toMatchObject({ code: 'WRONG_STATE', details: { state: 'pending' } })
  await expect(holdfast.retry(999_999_999n)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('a paused queue starts no jobs until it is resumed', async () => {
  const holdfast = bench.open({ jobs: [echo], queues: ['one', 'two'] })
  await holdfast.start()

  expect(await holdfast.pause('one', { actor: 'ada' })).toBe(true)
  expect(await holdfast.pause('one')).toBe(false)
  const held = await holdfast.enqueue(echo, 'held', { queue: 'one' })
  const free = await holdfast.enqueue(echo, 'free', { queue: 'two' })
  expect(await free.result()).toBe('free')
  expect(await holdfast.runJob(held.id)).toBe(false)
  expect(await held.read()).toMatchObject({ state: 'pending', attempts: 0 })

  expect(await holdfast.resume('one', { actor: 'grace' })).toBe(true)
  expect(await holdfast.resume('one')).toBe(false)
  expect(await held.result()).toBe('held')
  expect(await bench.look(`select actor, action from holdfast.audit order by id`)).toEqual([
    { actor: 'ada', action: 'pause' },
    { actor: 'grace', action: 'resume' },
  ])
})

test('what runs while its queue is paused goes on', async () => {
  const started = gate()
  const mayEnd = gate()
  const slow = defineJob({
    type: 'slow',
    async run() {
      started.open()
      await mayEnd.opened
      return 'done'
    },
  })
  const holdfast = bench.open({ jobs: [slow] })
  await holdfast.start()
  const handle = await holdfast.enqueue(slow, {})
  await started.opened

  await holdfast.pause('default')
  mayEnd.open()

  expect(await handle.result()).toBe('done')
})

test('find takes an id in any form and gives undefined for none', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const { id } = await holdfast.enqueue(echo, {})

  for (const form of [id, Number(id), BigInt(id)]) expect((await holdfast.find(form))?.id).toBe(id)
  expect(await holdfast.find('999999999')).toBeUndefined()
})

test('an id that is none is refused by a rejection, never thrown', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const operations = [
    (id: string) => holdfast.find(id),
    (id: string) => holdfast.cancel(id),
    (id: string) => holdfast.retry(id),
    (id: string) => holdfast.runJob(id),
  ]

  for (const id of ['', 'abc', '-1', '0', '1.5', '9223372036854775808', '1; drop table holdfast.job']) {
    for (const operation of operations) await expect(operation(id)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  }
  await expect(holdfast.pause('')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  await expect(holdfast.current('')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test('operations by hand are written down with who did them', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const { id } = await holdfast.enqueue(echo, {})

  await holdfast.cancel(id, { actor: 'ada', reason: 'wrong file' })
  await holdfast.retry(id, { actor: 'grace' })

  expect(await bench.look('select actor, action, job_id::text, details from holdfast.audit order by id')).toEqual([
    { actor: 'ada', action: 'cancel', job_id: id, details: { from: 'pending', reason: 'wrong file' } },
    { actor: 'grace', action: 'retry', job_id: id, details: { from: 'cancelled' } },
  ])
})
