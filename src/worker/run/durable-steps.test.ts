import { describe, expect, test } from 'vitest'
import { HoldfastError, isHoldfastError } from '../../domain/error/errors.js'
import { defineJob } from '../../domain/job/definition.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import { Shutdown } from '../../domain/run/abort-reasons.js'
import type { JobContext } from '../../domain/run/context.js'
import { SILENT } from '../../observe/log.js'
import type { RunnableJob } from '../registry.js'
import { durableStepCalls, stepStore, stored } from './durable-step-calls.test-support.js'
import { startRun } from './runner.js'
import { startedRun } from './started-run.test-support.js'

const JOB = { id: '7', type: 'job', input: {}, attempts: 1 } as unknown as ClaimedJob
const FOREVER = new Promise<never>(() => {})

type Handler = (ctx: JobContext) => unknown

/** One job with its memory; each call of `attempt` is one run of it. */
function jobOf(handler: Handler) {
  const store = stepStore()
  const leasedCalls = {
    progress: async () => true,
    tx: async <T>(_: unknown, work: (tx: never) => Promise<T>) => work({} as never),
    complete: async () => {},
    ...durableStepCalls(store),
  }
  const definition = defineJob({ type: 'job', run: (_, ctx) => handler(ctx) }) as unknown as RunnableJob
  const start = () => startedRun((onOutcome) => startRun(JOB, definition, leasedCalls, () => SILENT, onOutcome))
  return { store, leasedCalls, start, attempt: () => start().outcome }
}

const SUSPENDED = (...waits: object[]) => ({ kind: 'suspended', waits })
const NAP = { kind: 'sleep', name: '#1', delayMs: 60_000 }

describe('steps', () => {
  test('a remembered step is not run again and gives the same', async () => {
    const ran: string[] = []
    const job = jobOf(async (ctx) => {
      const one = await ctx.step('one', () => ran.push('one'))
      return [one, await ctx.step('two', async () => ran.push('two'))]
    })

    expect(await job.attempt()).toEqual({ kind: 'completed', output: '[1,2]' })
    expect(await job.attempt()).toEqual({ kind: 'completed', output: '[1,2]' })
    expect(ran).toEqual(['one', 'two'])
  })

  test('a step that fails throws into the handler, and a retry runs only that one', async () => {
    const ran: string[] = []
    const job = jobOf(async (ctx) => {
      await ctx.step('one', () => ran.push('one'))
      await ctx.step('two', () => {
        if (ran.push('two') === 2) throw new Error('no')
      })
    })

    expect(await job.attempt()).toMatchObject({ kind: 'failed', retry: { kind: 'policy' }, failure: { message: 'no' } })
    expect(await job.attempt()).toMatchObject({ kind: 'completed' })
    expect(ran).toEqual(['one', 'two', 'two'])
  })

  test('the first run gets what a replay will get', async () => {
    const job = jobOf((ctx) => ctx.step('when', () => ({ at: new Date(0), nothing: undefined })))

    expect(await job.attempt()).toEqual({ kind: 'completed', output: '{"at":"1970-01-01T00:00:00.000Z"}' })
  })

  test('a name that appears twice is refused for good', async () => {
    const job = jobOf(async (ctx) => {
      await ctx.step('charge', () => 1)
      await ctx.step('charge', () => 2)
    })

    expect(await job.attempt()).toMatchObject({
      kind: 'failed',
      retry: { kind: 'never' },
      failure: { code: 'STEP_REPEATED', message: expect.stringContaining('the step "charge" appears twice') },
    })
  })

  test('a step, a sleep and a wait may have the same name', async () => {
    const job = jobOf(async (ctx) => {
      await ctx.step('a', () => 1)
      await ctx.sleep('1m', { name: 'a' })
      return ctx.waitFor('a')
    })
    job.store.steps.set('sleep a', stored('sleep', 'a'))
    job.store.events.set('a', 3)

    expect(await job.attempt()).toEqual({ kind: 'completed', output: '3' })
  })

  test('an output that is no JSON is refused with the name of its step', async () => {
    const job = jobOf((ctx) => ctx.step('count', () => 1n))

    expect(await job.attempt()).toMatchObject({
      kind: 'failed',
      failure: { code: 'INVALID_OUTPUT', message: expect.stringContaining('step "count": ') },
    })
    expect(job.store.steps.size).toBe(0)
  })

  test.each(['', 7 as unknown as string, 'x'.repeat(201)])('the name %j is refused', async (name) => {
    const job = jobOf((ctx) => ctx.step(name, () => 1))

    expect(await job.attempt()).toMatchObject({ kind: 'failed', failure: { code: 'INVALID_OPTION' } })
  })

  test('a run that was told to stop begins no further step', async () => {
    const ran: string[] = []
    const job = jobOf(async (ctx) => {
      await ctx.step('one', () => {
        ran.push('one')
        run.abort(new Shutdown())
      })
      await ctx.step('two', () => ran.push('two'))
    })
    const run = job.start()

    expect(await run.outcome).toEqual({ kind: 'released' })
    expect(ran).toEqual(['one'])
    expect([...job.store.steps.keys()]).toEqual(['step one'])
  })

  test('a step whose job was lost meanwhile ends the run as lost', async () => {
    const job = jobOf((ctx) => ctx.step('one', () => 1))
    job.leasedCalls.rememberStep = async () => {
      throw new HoldfastError('LEASE_LOST')
    }

    expect(await job.attempt()).toEqual({ kind: 'lost' })
  })

  test('a run that failed waits for the steps beside it, and they are remembered', async () => {
    let end = () => {}
    const slow = new Promise<void>((resolve) => {
      end = resolve
    })
    const job = jobOf((ctx) =>
      Promise.all([
        ctx.step('slow', () => slow),
        ctx.step('bad', () => {
          queueMicrotask(end)
          throw new Error('no')
        }),
      ]),
    )

    expect(await job.attempt()).toMatchObject({ kind: 'failed', failure: { message: 'no' } })
    expect([...job.store.steps.keys()]).toEqual(['step slow'])
  })

  test.each<[string, Handler]>([
    ['step', (ctx) => ctx.step('one', () => 1)],
    ['sleep', (ctx) => ctx.sleep('1m')],
    ['waitFor', (ctx) => ctx.waitFor('paid')],
  ])('ctx.%s inside ctx.tx is refused', async (_, call) => {
    const job = jobOf((ctx) => ctx.tx(async () => call(ctx)))

    expect(await job.attempt()).toMatchObject({ kind: 'failed', failure: { code: 'STEP_MISPLACED' } })
  })
})

describe('waits', () => {
  test('a sleep ends the run, and the finally blocks of the handler are run', async () => {
    const done: string[] = []
    const job = jobOf(async (ctx) => {
      try {
        await ctx.sleep('1m')
        done.push('slept')
      } finally {
        done.push('cleaned up')
      }
    })

    expect(await job.attempt()).toEqual(SUSPENDED(NAP))
    expect(done).toEqual(['cleaned up'])
  })

  test('a sleep that is over is passed', async () => {
    const job = jobOf(async (ctx) => {
      await ctx.sleep('1m')
      await ctx.sleep('2m')
    })
    job.store.steps.set('sleep #1', stored('sleep', '#1'))

    expect(await job.attempt()).toEqual(SUSPENDED({ kind: 'sleep', name: '#2', delayMs: 120_000 }))
  })

  test('an event that is known gives its payload', async () => {
    const job = jobOf((ctx) => ctx.waitFor('paid'))
    job.store.events.set('paid', { eur: 7 })

    expect(await job.attempt()).toEqual({ kind: 'completed', output: '{"eur":7}' })
  })

  test('an event that was not emitted suspends the run', async () => {
    const job = jobOf((ctx) => ctx.waitFor('paid', { timeout: '1m' }))

    expect(await job.attempt()).toEqual(SUSPENDED({ kind: 'event', name: 'paid', event: 'paid', delayMs: 60_000 }))
  })

  test('an event that did not come in time fails the job for good, unless the handler catches it', async () => {
    const givenUp = stored('event', 'paid', { isGivenUp: true })
    const careless = jobOf((ctx) => ctx.waitFor('paid'))
    const careful = jobOf((ctx) => ctx.waitFor('paid').catch((error) => isHoldfastError(error, 'EVENT_TIMEOUT')))
    careless.store.steps.set('event paid', givenUp)
    careful.store.steps.set('event paid', givenUp)

    expect(await careless.attempt()).toMatchObject({ retry: { kind: 'never' }, failure: { code: 'EVENT_TIMEOUT' } })
    expect(await careful.attempt()).toEqual({ kind: 'completed', output: 'true' })
  })

  test('two sleeps side by side are both waited for', async () => {
    const job = jobOf((ctx) => Promise.all([ctx.sleep('1m'), ctx.sleep('2m')]))

    expect(await job.attempt()).toEqual(SUSPENDED(NAP, { kind: 'sleep', name: '#2', delayMs: 120_000 }))
  })

  test('a step that runs beside a sleep is remembered before the run ends', async () => {
    const job = jobOf((ctx) => Promise.all([ctx.step('beside', async () => 7), ctx.sleep('1m')]))

    expect(await job.attempt()).toEqual(SUSPENDED(NAP))
    expect(job.store.steps.get('step beside')?.output).toBe(7)
  })

  test('a step beside a sleep may fail after the run has ended', async () => {
    const job = jobOf(async (ctx) => {
      const beside = ctx.step('beside', async () => {
        throw new Error('no')
      })
      await ctx.sleep('1m')
      await beside
    })

    expect(await job.attempt()).toEqual(SUSPENDED(NAP))
  })

  test.each([['soon'], [-1], [Number.NaN]])('a sleep of %j is refused', async (duration) => {
    const job = jobOf((ctx) => ctx.sleep(duration as '1m'))

    expect(await job.attempt()).toMatchObject({ kind: 'failed', failure: { code: 'INVALID_OPTION' } })
  })
})

describe('a handler that catches the word to wait', () => {
  const caught = async (ctx: JobContext) => void (await ctx.sleep('1m').catch(() => {}))

  test.each<[string, Handler]>([
    ['returns', async (ctx) => caught(ctx).then(() => 'done')],
    [
      'throws',
      async (ctx) => {
        await caught(ctx)
        throw new Error('no')
      },
    ],
    ['does another step', async (ctx) => caught(ctx).then(() => ctx.step('next', () => FOREVER))],
    ['opens a transaction', async (ctx) => caught(ctx).then(() => ctx.tx(async () => FOREVER))],
    [
      'reports its progress',
      async (ctx) =>
        caught(ctx)
          .then(() => ctx.progress(1))
          .then(() => FOREVER),
    ],
    [
      'completes itself',
      async (ctx) =>
        caught(ctx)
          .then(() => ctx.complete({} as never))
          .then(() => FOREVER),
    ],
    [
      'tries for ever',
      async (ctx) => {
        for (;;) await caught(ctx)
      },
    ],
  ])('and %s is suspended all the same', async (_, handler) => {
    expect(await jobOf(handler).attempt()).toEqual(SUSPENDED(NAP))
  })
})
