import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { HoldfastError } from '../../domain/error/errors.js'
import { defineJob } from '../../domain/job/definition.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import { JobCancelled, JobSuperseded, LeaseLost, Shutdown } from '../../domain/run/abort-reasons.js'
import type { JobContext } from '../../domain/run/context.js'
import { NonRetryable, RetryAfter } from '../../domain/run/handler-errors.js'
import { hostileValues } from '../../domain/run/hostile-values.test-support.js'
import { cancel, snooze } from '../../domain/run/outcome.js'
import { SILENT } from '../../observe/log.js'
import type { RunnableJob } from '../registry.js'
import { durableStepCalls, type StepStore } from './durable-step-calls.test-support.js'
import { startRun } from './runner.js'
import { startedRun } from './started-run.test-support.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const JOB = { id: '7', type: 'job', input: { n: 1 }, attempts: 2 } as unknown as ClaimedJob

type Handler = (input: { n: number }, ctx: JobContext) => unknown

/** A run of `handler` whose progress, transactions and completions are accepted. */
function runOf(handler: Handler, options: { timeout?: '1s'; isClaimed?: boolean; steps?: StepStore } = {}) {
  const calls: string[] = []
  const { isClaimed = true, steps, ...rest } = options
  const leasedCalls = {
    async progress(_: unknown, share: number, message: string | null) {
      calls.push(`progress ${share} ${message}`)
      return isClaimed
    },
    tx: async <T>(_: unknown, work: (tx: never) => Promise<T>) => work({} as never),
    async complete(_: unknown, __: unknown, output: string) {
      calls.push(`complete ${output}`)
    },
    ...durableStepCalls(steps),
  }
  const definition = defineJob({ type: 'job', run: handler, ...rest }) as unknown as RunnableJob
  return { calls, ...startedRun((onOutcome) => startRun(JOB, definition, leasedCalls, () => SILENT, onOutcome)) }
}

const until = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))
const FOREVER = new Promise<never>(() => {})

describe('what a handler returns', () => {
  test.each<[string, Handler, object]>([
    ['a value', ({ n }) => ({ n: n + 1 }), { kind: 'completed', output: '{"n":2}' }],
    ['a promise', async () => 'text', { kind: 'completed', output: '"text"' }],
    ['nothing', () => undefined, { kind: 'completed', output: 'null' }],
    ['a snooze', () => snooze('2s'), { kind: 'snoozed', delayMs: 2000 }],
    ['a promise of a cancel', async () => cancel('no'), { kind: 'cancelled', reason: 'no' }],
    ['a BigInt', () => 1n, { kind: 'failed', retry: { kind: 'never' }, failure: { code: 'INVALID_OUTPUT' } }],
  ])('%s', async (_, handler, outcome) => {
    expect(await runOf(handler).outcome).toMatchObject(outcome)
  })

  test.each(hostileValues())('$title comes to an outcome', async ({ value }) => {
    const { kind } = await runOf(() => value).outcome

    expect(['completed', 'failed']).toContain(kind)
  })
})

test.each<[string, Handler]>([
  ['returns at once', () => 1],
  [
    'throws at once',
    () => {
      throw new Error('no')
    },
  ],
  // biome-ignore lint/suspicious/noThenProperty: it is the point of the test
  ['returns what calls back at once', () => ({ then: (resolve: (value: unknown) => void) => resolve(1) })],
])('the outcome of a handler that %s is reported after the run has started', async (_, handler) => {
  let isStarted = false
  const wasStarted = await new Promise((resolve) => {
    const definition = defineJob({ type: 'job', run: handler }) as unknown as RunnableJob
    startRun(
      JOB,
      definition,
      { ...durableStepCalls() } as never,
      () => SILENT,
      () => resolve(isStarted),
    )
    isStarted = true
  })

  expect(wasStarted).toBe(true)
})

describe('what a handler throws', () => {
  test.each<[string, unknown, object]>([
    ['an error', new Error('no'), { kind: 'failed', retry: { kind: 'policy' }, failure: { message: 'no' } }],
    ['NonRetryable', new NonRetryable('no'), { kind: 'failed', retry: { kind: 'never' } }],
    ['RetryAfter', new RetryAfter('3s'), { kind: 'failed', retry: { kind: 'after', delayMs: 3000 } }],
    ['LEASE_LOST', new HoldfastError('LEASE_LOST'), { kind: 'lost' }],
    [
      'INVALID_INPUT of another operation',
      new HoldfastError('INVALID_INPUT'),
      { kind: 'failed', retry: { kind: 'policy' } },
    ],
  ])('%s', async (_, thrown, outcome) => {
    const run = runOf(() => {
      throw thrown
    })

    expect(await run.outcome).toMatchObject(outcome)
  })

  test.each(hostileValues())('$title comes to a failure', async ({ value }) => {
    const run = runOf(() => {
      throw value
    })

    expect(await run.outcome).toMatchObject({ kind: 'failed', failure: { message: expect.any(String) } })
  })
})

describe('a run that is told to stop', () => {
  test.each([
    [new Shutdown(), 'released'],
    [new JobCancelled(), 'lost'],
    [new JobSuperseded(), 'lost'],
    [new LeaseLost(), 'lost'],
  ] as const)('by %s and throws comes to %s', async (reason, kind) => {
    const run = runOf(async (_, { signal }) => {
      await until(signal)
      throw signal.reason
    })

    run.abort(reason)

    expect(await run.outcome).toEqual({ kind })
  })

  test('and returns all the same comes to what it returns', async () => {
    const run = runOf(async (_, { signal }) => {
      await until(signal)
      return signal.aborted
    })

    run.abort(new Shutdown())

    expect(await run.outcome).toEqual({ kind: 'completed', output: 'true' })
  })

  test('before its handler reads the signal finds it aborted', async () => {
    let reason: unknown
    const run = runOf(async (_, ctx) => {
      await Promise.resolve()
      reason = ctx.signal.reason
    })

    run.abort(new Shutdown('now'))
    await run.outcome

    expect(reason).toMatchObject({ code: 'SHUTDOWN', message: 'now' })
  })

  test('and ignores it frees its slot after five seconds', async () => {
    const run = runOf(() => FOREVER)
    let outcome: unknown
    void run.outcome.then((value) => {
      outcome = value
    })

    await vi.advanceTimersByTimeAsync(60_000)
    run.abort(new Shutdown())
    await vi.advanceTimersByTimeAsync(4_999)
    expect(outcome).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)

    expect(outcome).toEqual({ kind: 'released' })
  })

  test('by its timeout fails with TIMED_OUT, heeded or not', async () => {
    const heeding = runOf((_, { signal }) => until(signal).then(() => signal.throwIfAborted()), { timeout: '1s' })
    const deaf = runOf(() => FOREVER, { timeout: '1s' })

    await vi.advanceTimersByTimeAsync(1000)
    expect(await heeding.outcome).toMatchObject({
      kind: 'failed',
      retry: { kind: 'policy' },
      failure: { code: 'TIMED_OUT', message: 'job 7 ran longer than 1000 ms' },
    })
    await vi.advanceTimersByTimeAsync(5000)

    expect(await deaf.outcome).toMatchObject({ kind: 'failed', failure: { code: 'TIMED_OUT' } })
  })

  test('in time is not stopped again by its timeout, and leaves no timer', async () => {
    await runOf(() => 'quick', { timeout: '1s' }).outcome
    await runOf(async () => 'quick', { timeout: '1s' }).outcome

    expect(vi.getTimerCount()).toBe(0)
  })

  test('twice keeps the first reason', async () => {
    const run = runOf((_, { signal }) => until(signal).then(() => signal.throwIfAborted()))

    run.abort(new Shutdown())
    run.abort(new JobCancelled())

    expect(await run.outcome).toEqual({ kind: 'released' })
  })

  test('because its own completion took the lease away goes on', async () => {
    const run = runOf(async (_, ctx) => {
      await ctx.complete({} as never, { done: true })
      run.abort(new LeaseLost())
      return ctx.signal.aborted
    })

    expect(await run.outcome).toEqual({ kind: 'completed', output: 'false' })
    expect(run.calls).toEqual(['complete {"done":true}'])
  })
})

describe('progress', () => {
  test('rejects with LEASE_LOST when the job is held by another, and the run is lost', async () => {
    const run = runOf((_, { progress }) => progress(0.5), { isClaimed: false })

    expect(await run.outcome).toEqual({ kind: 'lost' })
  })

  test('takes any text', async () => {
    const run = runOf(async (_, { progress }) => {
      await progress(0.5)
      await progress(1, 'nul \u0000')
    })
    await run.outcome

    expect(run.calls).toEqual(['progress 0.5 null', 'progress 1 nul \ufffd'])
  })
})
