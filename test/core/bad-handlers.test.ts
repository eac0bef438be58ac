// Whatever a handler throws or returns ends its run, is stored in a form that can be stored, and stops nothing else.
import { describe, expect, test } from 'vitest'
import { hostileValues } from '../../src/domain/run/hostile-values.test-support.js'
import { defineJob } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const good = defineJob({ type: 'good', run: () => 'good' })

/** Runs each as a job of a worker with one slot, then a good job behind them; gives the jobs as they ended. */
async function runBeforeGoodJob(...runs: (() => unknown)[]) {
  const bad = defineJob({ type: 'bad', retry: { attempts: 1 }, run: (n: number) => runs[n]?.() })
  const holdfast = bench.open({ jobs: [bad, good], concurrency: 1 })
  const handles = await holdfast.enqueueMany(bad, [...runs.keys()])
  const last = await holdfast.enqueue(good, {})
  await holdfast.start()
  expect(await last.result()).toBe('good')
  await holdfast.stop()
  return Promise.all(handles.map((handle) => handle.read()))
}

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown
  }
}

describe('a handler that throws', () => {
  test('fails with a description, whatever it throws', async () => {
    const values = hostileValues()

    const jobs = await runBeforeGoodJob(...values.map(({ value }) => throwing(value)))

    for (const [n, { title }] of values.entries()) {
      const { name, message } = jobs[n]?.error ?? {}
      expect([title, jobs[n]?.state, typeof name, typeof message]).toEqual([title, 'failed', 'string', 'string'])
    }
  })

  test('undefined, null or a text is said to have thrown that', async () => {
    const [one, two, three] = await runBeforeGoodJob(
      throwing(undefined),
      () => Promise.reject(null),
      throwing('just text'),
    )

    expect(one?.error).toEqual({ name: 'NonError', message: 'undefined was thrown', thrown: 'undefined' })
    expect(two?.error).toMatchObject({ thrown: 'null' })
    expect(three?.error).toMatchObject({ message: 'just text', thrown: 'string' })
  })

  test('a message of a megabyte is cut', async () => {
    const [job] = await runBeforeGoodJob(throwing(new Error('x'.repeat(1_000_000))))

    expect(job).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('truncated') } })
    expect(JSON.stringify(job?.error).length).toBeLessThan(16_384)
  })

  test('text that PostgreSQL cannot store is replaced', async () => {
    const error = Object.assign(new Error('nul \u0000 and half \ud800'), { code: 'E\u0000' })

    const [job] = await runBeforeGoodJob(throwing(error))

    expect(job).toMatchObject({ state: 'failed', error: { message: 'nul \ufffd and half \ufffd', code: 'E\ufffd' } })
  })

  test('an error with a code of PostgreSQL or of a socket is the handler’s own failure', async () => {
    const codes = ['57P01', 'ECONNRESET', 'JH001', '08006']
    const errors = codes.map((code) => Object.assign(new Error('Connection terminated'), { code }))

    const jobs = await runBeforeGoodJob(...errors.map(throwing))

    expect(jobs.map(({ state, error }) => [state, error?.code])).toEqual(codes.map((code) => ['failed', code]))
  })

  test('causes and aggregated errors are kept', async () => {
    const error = new AggregateError([new Error('one'), new TypeError('two')], 'both failed', {
      cause: new RangeError('why'),
    })

    const [job] = await runBeforeGoodJob(throwing(error))

    expect(job?.error).toMatchObject({
      message: 'both failed',
      cause: { name: 'RangeError', message: 'why' },
      issues: [{ message: 'one' }, { message: 'two', name: 'TypeError' }],
    })
  })
})

describe('a handler that returns what cannot be stored', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular

  test('fails for good with INVALID_OUTPUT', async () => {
    const outputs: [title: string, output: unknown][] = [
      ['a BigInt', { n: 1n }],
      ['a value that contains itself', circular],
      ['a megabyte', 'x'.repeat(1_000_000)],
      ['the character \\u0000', ['a\u0000']],
      ['a lone surrogate', '\udfff'],
      ['NaN', Number.NaN],
      ['a function', () => {}],
    ]

    const jobs = await runBeforeGoodJob(
      ...outputs.map(
        ([, output]) =>
          () =>
            output,
      ),
    )

    expect(jobs.map(({ state, output, error }, n) => [outputs[n]?.[0], state, output, error?.code])).toEqual(
      outputs.map(([title]) => [title, 'failed', null, 'INVALID_OUTPUT']),
    )
  })

  test('trying again cannot help, so attempts that are left are not used', async () => {
    let runs = 0
    const bad = defineJob({ type: 'bad', retry: { attempts: 5, base: 0, max: 0 }, run: () => BigInt(++runs) })
    const holdfast = bench.open({ jobs: [bad] })
    await holdfast.start()
    const handle = await holdfast.enqueue(bad, {})

    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
    expect(runs).toBe(1)
  })
})

test('a neighbour that fails in the same moment does not keep others from being settled', async () => {
  const mixed = defineJob({
    type: 'mixed',
    retry: { attempts: 1 },
    run(n: number) {
      if (n % 3 === 0) throw new Error('\u0000'.repeat(1000))
      if (n % 3 === 1) return BigInt(n)
      return n
    },
  })
  const holdfast = bench.open({ jobs: [mixed] })
  const handles = await holdfast.enqueueMany(
    mixed,
    Array.from({ length: 60 }, (_, n) => n),
  )

  await holdfast.start()
  const outcomes = await Promise.allSettled(handles.map((handle) => handle.result()))

  expect(outcomes.map(({ status }) => status)).toEqual(
    Array.from({ length: 60 }, (_, n) => (n % 3 === 2 ? 'fulfilled' : 'rejected')),
  )
  expect(await bench.look('select job_id from holdfast.lease')).toEqual([])
})
