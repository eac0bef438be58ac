// What a handler gets: the stored input, validated and transformed again when the job is claimed.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, handle } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

test('what was given is stored, and the handler gets what the schema makes of it', async () => {
  const report = defineJob({
    type: 'report',
    input: z.object({ day: z.string().transform((text) => new Date(text)), copies: z.number().default(1) }),
    run: ({ day, copies }) => ({ year: day.getUTCFullYear(), copies }),
  })
  const holdfast = bench.open({ jobs: [report] })

  const enqueued = await holdfast.enqueue(report, { day: '2026-02-03' })
  await holdfast.runJob(enqueued.id)

  expect((await enqueued.read()).input).toEqual({ day: '2026-02-03' })
  expect(await enqueued.result()).toEqual({ year: 2026, copies: 1 })
})

test('the key is made of what the schema makes of the input', async () => {
  const report = defineJob({
    type: 'report',
    input: z.object({ customer: z.string().trim().toLowerCase() }),
    key: ({ customer }) => ({ customer }),
  })
  const holdfast = bench.open({ jobs: [report] })

  const enqueued = await holdfast.enqueue(report, { customer: '  Ada ' })

  expect(await enqueued.read()).toMatchObject({ key: '{"customer":"ada"}', input: { customer: '  Ada ' } })
})

test('a job whose stored input no longer fits fails for good with the issues listed', async () => {
  const before = defineJob({ type: 'resize', input: z.object({ width: z.number() }) })
  let runs = 0
  const after = defineJob({
    type: 'resize',
    input: z.object({ width: z.number(), height: z.number() }),
    retry: { attempts: 10 },
    run: () => ++runs,
  })
  const producer = bench.open({ jobs: [before] })
  const worker = bench.open({ jobs: [after] })
  const old = await producer.enqueue(before, { width: 10 })
  const fresh = await worker.enqueue(after, { width: 10, height: 20 })

  await worker.start()

  expect(await fresh.result()).toBe(1)
  await expect(old.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
  expect(await old.read()).toMatchObject({
    state: 'failed',
    attempts: 1,
    error: { code: 'INVALID_INPUT', issues: [{ message: expect.any(String) }] },
  })
})

test('a row at the head of the queue that no program can read back fails alone', async () => {
  const sum = defineJob({ type: 'sum', input: z.object({ n: z.number() }), run: ({ n }) => n })
  const holdfast = bench.open({ jobs: [sum], concurrency: 1 })
  const bad = await holdfast.enqueue(sum, { n: 1 }, { priority: 0 })
  const good = await holdfast.enqueue(sum, { n: 2 })
  await bench.look(`update holdfast.job set input = '{"n": 1e400}' where id = $1`, [bad.id])

  await holdfast.start()

  expect(await good.result()).toBe(2)
  expect(await bad.read()).toMatchObject({ state: 'failed', error: { code: 'INVALID_INPUT' } })
})

test('a schema that throws is a failed attempt, not a stopped worker', async () => {
  const stored = defineJob({ type: 'odd' })
  const odd = defineJob({
    type: 'odd',
    input: {
      '~standard': {
        version: 1,
        vendor: 'odd',
        validate: () => {
          throw new Error('the schema broke')
        },
      },
    },
    run: () => {},
  })
  const producer = bench.open({ jobs: [stored] })
  const worker = bench.open({ jobs: [odd] })
  const enqueued = await producer.enqueue(stored, {}, { maxAttempts: 1 })

  await worker.runJob(enqueued.id)

  expect(await enqueued.read()).toMatchObject({ state: 'failed', error: { message: 'the schema broke' } })
})

test('a contract gets its handler elsewhere', async () => {
  const contract = defineJob({ type: 'greet', input: z.object({ name: z.string() }), queue: 'hello' })
  const greet = handle(contract, ({ name }) => `Hello, ${name}`)
  const producer = bench.open({ jobs: [contract] })
  const worker = bench.open({ jobs: [greet] })
  await worker.start()

  const enqueued = await producer.enqueue('greet', { name: 'Ada' })

  expect(await enqueued.result()).toBe('Hello, Ada')
  expect((await enqueued.read()).queue).toBe('hello')
})

test('a handler sees its job but not the raw input', async () => {
  let seen: unknown
  const job = defineJob({
    type: 'job',
    run(_, ctx) {
      seen = ctx.job
    },
  })
  const holdfast = bench.open({ jobs: [job] })
  const { id } = await holdfast.enqueue(job, { secret: 1 }, { tags: ['t'], key: 'k' })

  await holdfast.runJob(id)

  expect(seen).toMatchObject({ id, type: 'job', queue: 'default', attempts: 1, maxAttempts: 3, tags: ['t'], key: 'k' })
  expect(seen).not.toHaveProperty('input')
})
