// Durable steps, sleeps and events, on a server and on the embedded database.
import { describe, expect, test } from 'vitest'
import { defineJob, type JobContext } from '../../src/index.js'
import { heard, heardTimes, useHoldfast } from '../support/holdfast.js'
import { inTransaction } from '../support/own-transaction.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

function jobOf<T>(run: (ctx: JobContext) => Promise<T>, attempts = 3) {
  return defineJob({ type: 'job', retry: { attempts, base: '1ms', max: '1ms' }, run: (_: unknown, ctx) => run(ctx) })
}

describe('steps', () => {
  test('a retry runs only the step that failed', async () => {
    const ran: string[] = []
    const job = jobOf(async (ctx) => {
      const one = await ctx.step('one', () => ran.push('one'))
      const two = await ctx.step('two', async () => {
        if (ran.push('two') === 2) throw new Error('not yet')
        return 'two'
      })
      return [one, two]
    })
    const holdfast = bench.open({ jobs: [job] })
    await holdfast.start()

    const handle = await holdfast.enqueue(job, {})

    expect(await handle.result()).toEqual([1, 'two'])
    expect(ran).toEqual(['one', 'two', 'two'])
    expect(await holdfast.steps(handle.id)).toMatchObject([
      { kind: 'step', name: 'one', output: 1, isOver: true },
      { kind: 'step', name: 'two', output: 'two', isOver: true },
    ])
  })

  test('a step that comes to nothing is remembered too', async () => {
    let ran = 0
    const job = jobOf(async (ctx) => {
      const nothing = await ctx.step('one', () => {
        ran += 1
      })
      if (ctx.job.attempts === 1) throw new Error('again')
      return { nothing, ran }
    })
    const holdfast = bench.open({ jobs: [job] })
    await holdfast.start()

    expect(await (await holdfast.enqueue(job, {})).result()).toEqual({ nothing: null, ran: 1 })
  })

  test('a step may write in a transaction of its own', async () => {
    const job = jobOf(async (ctx) => {
      const rows = await ctx.step('read', () => ctx.tx(async (tx) => (await tx.query('select 7 as n')).rows))
      return { rows }
    })
    const holdfast = bench.open({ jobs: [job] })
    await holdfast.start()

    expect(await (await holdfast.enqueue(job, {})).result()).toEqual({ rows: [{ n: 7 }] })
  })
})

describe('sleep', () => {
  test('a handler that sleeps frees its slot, and goes on where it was', async () => {
    const ran: string[] = []
    const job = jobOf(async (ctx) => {
      await ctx.step('before', () => ran.push('before'))
      await ctx.sleep('20ms')
      return ctx.step('after', () => ran.push('after'))
    })
    const holdfast = bench.open({ jobs: [job, echo], concurrency: 1 })
    const suspended = heard(holdfast, 'job.suspended')
    await holdfast.start()
    const handle = await holdfast.enqueue(job, {})

    expect(await suspended).toMatchObject({
      id: handle.id,
      waits: [{ kind: 'sleep', name: '#1', delayMs: 20 }],
    })
    expect(await (await holdfast.enqueue(echo, 'meanwhile')).result()).toBe('meanwhile')
    expect(await handle.result()).toBe(2)
    expect(ran).toEqual(['before', 'after'])
  })

  test('a job can sleep more often than it may be attempted', async () => {
    const job = jobOf(async (ctx) => {
      for (let i = 0; i < 5; i += 1) await ctx.sleep(0)
      return 'rested'
    }, 1)
    const holdfast = bench.open({ jobs: [job] })
    const suspended = heardTimes(holdfast, 'job.suspended', 5)
    await holdfast.start()

    const handle = await holdfast.enqueue(job, {})

    expect(await handle.result()).toBe('rested')
    expect(await suspended).toHaveLength(5)
    expect(await handle.read()).toMatchObject({ attempts: 1, token: '6' })
  })

  test('a job that sleeps is pending, can be explained and can be cancelled', async () => {
    const job = jobOf((ctx) => ctx.sleep('1h', { name: 'cool off' }))
    const holdfast = bench.open({ jobs: [job] })
    const suspended = heard(holdfast, 'job.suspended')
    await holdfast.start()
    const handle = await holdfast.enqueue(job, {})
    await suspended

    const { reasons, expectedStart } = await handle.explain()
    expect(reasons).toMatchObject([{ code: 'SLEEPING', facts: { name: 'cool off' } }])
    const job_ = await handle.read()
    expect(job_.state).toBe('pending')
    expect(expectedStart).toEqual(job_.runAt)
    expect(await handle.cancel('no longer needed')).toBe('pending')
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
  })

  test('a handler that catches everything sleeps all the same', async () => {
    const ran: string[] = []
    const job = jobOf(async (ctx) => {
      try {
        await ctx.sleep(0)
        ran.push('slept')
      } catch {
        ran.push('caught')
        await ctx.step('after the catch', () => ran.push('never'))
      }
      return ran
    })
    const holdfast = bench.open({ jobs: [job] })
    await holdfast.start()

    expect(await (await holdfast.enqueue(job, {})).result()).toEqual(['caught', 'slept'])
  })
})

describe('events', () => {
  const waiting = (timeout?: '1ms') => jobOf((ctx) => ctx.waitFor('order 7 paid', timeout ? { timeout } : {}))

  test('a handler that waits frees its slot and gets the payload', async () => {
    const job = waiting()
    const holdfast = bench.open({ jobs: [job, echo], concurrency: 1 })
    const suspended = heard(holdfast, 'job.suspended')
    await holdfast.start()
    const handle = await holdfast.enqueue(job, {})
    await suspended
    expect(await (await holdfast.enqueue(echo, 'meanwhile')).result()).toBe('meanwhile')
    expect((await handle.explain()).reasons).toMatchObject([{ code: 'WAITING_FOR_EVENT' }])

    expect(await holdfast.emit('order 7 paid', { eur: 7 })).toEqual({ isFirst: true, payload: { eur: 7 }, woken: 1 })

    expect(await handle.result()).toEqual({ eur: 7 })
    expect(await handle.read()).toMatchObject({ attempts: 1 })
  })

  test('an event that was emitted before is found at once, and its first payload stands', async () => {
    const job = waiting()
    const holdfast = bench.open({ jobs: [job] })
    const suspensions: unknown[] = []
    holdfast.on('job.suspended', (fact) => suspensions.push(fact))
    await holdfast.emit('order 7 paid', 'first')
    expect(await holdfast.emit('order 7 paid', 'second')).toEqual({ isFirst: false, payload: 'first', woken: 0 })
    await holdfast.start()

    expect(await (await holdfast.enqueue(job, {})).result()).toBe('first')
    expect(suspensions).toEqual([])
  })

  test('an event without a payload is null', async () => {
    const job = waiting()
    const holdfast = bench.open({ jobs: [job] })
    await holdfast.emit('order 7 paid')
    await holdfast.start()

    expect(await (await holdfast.enqueue(job, {})).result()).toBeNull()
  })

  test('an event that does not come in time fails the job for good, and a retry waits again', async () => {
    const job = waiting('1ms')
    const holdfast = bench.open({ jobs: [job] })
    await holdfast.start()
    const handle = await holdfast.enqueue(job, {})
    await expect(handle.result()).rejects.toMatchObject({
      code: 'JOB_FAILED',
      details: { error: { code: 'EVENT_TIMEOUT' }, attempts: 1 },
    })

    await holdfast.emit('order 7 paid', 'late')
    await holdfast.retry(handle.id)

    expect(await handle.result()).toBe('late')
  })

  test('an event emitted in a transaction has happened if and only if that commits', async () => {
    const job = waiting()
    const holdfast = bench.open({ jobs: [job] })
    const suspended = heard(holdfast, 'job.suspended')
    await holdfast.start()
    const handle = await holdfast.enqueue(job, {})
    await suspended
    const emitting = (payload: string, isFine: boolean) =>
      inTransaction(bench.database, async (tx) => {
        await holdfast.emit('order 7 paid', payload, { tx })
        if (!isFine) throw new Error('changed my mind')
      })

    await expect(emitting('rolled back', false)).rejects.toThrow('changed my mind')
    expect((await handle.explain()).reasons).toMatchObject([{ code: 'WAITING_FOR_EVENT' }])
    await emitting('committed', true)

    expect(await handle.result()).toBe('committed')
  })

  test('many jobs wait for one event', async () => {
    const job = waiting()
    const holdfast = bench.open({ jobs: [job], concurrency: 2 })
    const suspended = heardTimes(holdfast, 'job.suspended', 20)
    await holdfast.start()
    const handles = await holdfast.enqueueMany(
      job,
      Array.from({ length: 20 }, () => ({})),
    )
    await suspended

    expect(await holdfast.emit('order 7 paid', 1)).toMatchObject({ woken: 20 })
    expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(handles.map(() => 1))
  })

  test.each([
    ['', undefined, 'INVALID_OPTION'],
    ['paid', 1n, 'INVALID_INPUT'],
    ['paid', 'x'.repeat(300_000), 'INVALID_INPUT'],
  ])('the event %j with a payload that cannot be kept is refused', async (event, payload, code) => {
    await expect(bench.open({ jobs: [] }).emit(event, payload)).rejects.toMatchObject({ code })
  })
})

test('a job that does not exist cannot be explained', async () => {
  await expect(bench.open({ jobs: [] }).explain('99999')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('an explanation has its reasons in one text', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const handle = await holdfast.enqueue(echo, {})
  await holdfast.pause('default', { actor: 'ada' })

  const { text, reasons } = await holdfast.explain(handle.id)

  expect(text).toMatch(/^job \d+: queue "default" has been paused by ada since [-\d]+ [:\d]+ UTC; no worker is alive$/)
  expect(reasons.map(({ code }) => code)).toEqual(['QUEUE_PAUSED', 'NO_WORKER'])
})
