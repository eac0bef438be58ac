// Pipelines from definition to result: chains, graphs, fan-out and fan-in, with and without the hand-over.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  defineJob,
  definePipeline,
  HoldfastError,
  NonRetryable,
  type PipelineBuilder,
  type Step,
  type StepResult,
} from '../../src/index.js'
import { gate } from '../support/gate.js'
import { heard, until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const size = defineJob({ type: 'size', run: ({ text }: { text: string }) => ({ length: text.length }) })
const double = defineJob({
  type: 'double',
  input: z.object({ n: z.number() }),
  run: ({ n }) => {
    if (n === 13) throw new NonRetryable('unlucky')
    return n * 2
  },
})
const sum = defineJob({ type: 'sum', run: ({ numbers }: { numbers: number[] }) => numbers.reduce((a, b) => a + b, 0) })
const jobs = [size, double, sum] as const

const measured = definePipeline({
  name: 'measured',
  input: z.object({ text: z.string(), factors: z.array(z.number()) }),
  build(p, { text, factors }) {
    const length = p.job(size, { text })
    const doubled = p.map(factors, double, (n) => ({ n }))
    return p.job(sum, { length, doubled }, (r) => ({ numbers: [r.length.length, ...r.doubled] }))
  },
})

describe.each([{ directHandoff: true }, { directHandoff: false }])(
  'with directHandoff $directHandoff',
  ({ directHandoff }) => {
    test('a graph runs in order and its last step gets the results of those before it', async () => {
      const holdfast = bench.open({ jobs, pipelines: [measured], directHandoff })
      await holdfast.start()

      const handle = await holdfast.enqueuePipeline(measured, { text: 'abc', factors: [1, 2, 3] })

      expect(await handle.result()).toBe(3 + 2 + 4 + 6)
      expect(await handle.progress()).toMatchObject({ total: 5, completed: 5, share: 1 })
      expect(await handle.read()).toMatchObject({ name: 'measured', state: 'completed', onFailure: 'stop' })
    })

    test('a chain of ten steps runs each of them once, in order', async () => {
      const ran: number[] = []
      const note = defineJob({ type: 'note', run: ({ n }: { n: number }) => void ran.push(n) })
      const ten = definePipeline({
        name: 'ten',
        build(p, first: number) {
          let last = p.job(note, { n: first }, { name: 'step 0' })
          for (let i = 1; i < 10; i += 1) last = p.job(note, { n: first + i }, { name: `step ${i}`, after: [last] })
          return last
        },
      })
      const holdfast = bench.open({ jobs: [note], pipelines: [ten], directHandoff })
      await holdfast.start()

      await (await holdfast.enqueuePipeline(ten, 100)).result()

      expect(ran).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109])
    })

    test('ctx.chain runs the next job in the same pipeline', async () => {
      const last = defineJob({
        type: 'last',
        run: ({ n }: { n: number }, ctx) => ({ n, pipeline: ctx.job.pipelineId }),
      })
      const first = defineJob({
        type: 'first',
        run: async ({ n }: { n: number }, ctx) => ctx.chain(last, { n: n + 1 }),
      })
      const holdfast = bench.open({ jobs: [first, last], directHandoff })
      const ended = heard(holdfast, 'job.completed', ({ type }) => type === 'last')
      await holdfast.start()

      const handle = await holdfast.enqueue(first, { n: 1 })
      const next = await holdfast.find((await ended).id)

      const { pipelineId } = await handle.read()
      expect(next).toMatchObject({ state: 'completed', output: { n: 2, pipeline: pipelineId }, pipelineId })
      expect(await holdfast.pipeline(String(pipelineId)).progress()).toMatchObject({ total: 2, completed: 2 })
    })
  },
)

test('with the hand-over a step is in hand before anything else is claimed', async () => {
  const holdfast = bench.open({ jobs, pipelines: [measured] })
  await holdfast.start()
  await (await holdfast.enqueuePipeline(measured, { text: 'warm', factors: [] })).result()
  const claimed: string[] = []
  holdfast.on('job.claimed', ({ type }) => claimed.push(type))
  holdfast.on('job.completed', ({ type }) => claimed.push(`${type} done`))

  await (await holdfast.enqueuePipeline(measured, { text: 'abc', factors: [] })).result()

  expect(claimed.slice(0, 3)).toEqual(['size', 'sum', 'size done'])
})

test('a pipeline without a returned step has no result, but an end', async () => {
  const loose = definePipeline({
    name: 'loose',
    build(p, n: number) {
      p.job(double, { n })
      p.job(size, { text: 'x' })
    },
  })
  const holdfast = bench.open({ jobs, pipelines: [loose] })
  await holdfast.start()

  const handle = await holdfast.enqueuePipeline(loose, 2)

  expect(await handle.result()).toBeUndefined()
  expect((await handle.progress()).completed).toBe(2)
})

test('a pipeline enqueued in a transaction that rolls back never existed', async () => {
  const holdfast = bench.open({ jobs, pipelines: [measured] })
  const { pglite } = bench.database
  const input = { text: 'abc', factors: [1] }

  const rolledBack = pglite
    ? pglite.transaction(async (tx) => {
        await holdfast.enqueuePipeline(measured, input, { tx })
        throw new Error('changed my mind')
      })
    : (async () => {
        const client = await bench.database.connect()
        await client.query('begin')
        await holdfast.enqueuePipeline(measured, input, { tx: client })
        await client.query('rollback')
        await client.end()
        throw new Error('changed my mind')
      })()

  await expect(rolledBack).rejects.toThrow('changed my mind')
  expect(await bench.look('select * from holdfast.pipeline')).toEqual([])
  expect(await bench.look('select * from holdfast.job')).toEqual([])
})

describe('failure', () => {
  test('stop: the rest is cancelled, the result says which step failed, and a retry goes on from there', async () => {
    let isMended = false
    const shaky = defineJob({
      type: 'shaky',
      run: (n: number) => {
        if (!isMended) throw new NonRetryable('not yet')
        return n + 1
      },
    })
    const fragile = definePipeline({
      name: 'fragile',
      build(p, n: number) {
        const before = p.job(double, { n })
        const middle = p.job(shaky, { before }, (r) => r.before)
        return p.job(sum, { middle }, (r) => ({ numbers: [r.middle, 1] }))
      },
    })
    const holdfast = bench.open({ jobs: [...jobs, shaky], pipelines: [fragile] })
    await holdfast.start()

    const handle = await holdfast.enqueuePipeline(fragile, 5)
    await expect(handle.result()).rejects.toMatchObject({
      code: 'PIPELINE_FAILED',
      details: { step: 'shaky', state: 'failed' },
    })
    expect(await handle.progress()).toMatchObject({ completed: 1, failed: 1, cancelled: 1 })
    isMended = true

    expect(await handle.retry()).toBe(2)
    expect(await handle.result()).toBe(12)
    expect((await handle.read()).stoppedBy).toBeNull()
  })

  test('continue: the others run, and results say which step failed', async () => {
    const report = defineJob({
      type: 'report',
      run: ({ seen }: { seen: string[] }) => seen,
    })
    const told = (result: StepResult<number>) =>
      result.state === 'completed' ? String(result.output) : `${result.state}: ${result.error?.message}`
    const lenient = definePipeline({
      name: 'lenient',
      onFailure: 'continue',
      build(p, numbers: number[]) {
        const doubled = p.map(numbers, double, (n) => ({ n }))
        return p.job(report, { doubled }, (r) => ({ seen: r.doubled.map(told) }))
      },
    })
    const holdfast = bench.open({ jobs: [...jobs, report], pipelines: [lenient] })
    await holdfast.start()

    const handle = await holdfast.enqueuePipeline(lenient, [1, 13, 2])

    expect(await handle.result()).toEqual(['2', 'failed: unlucky', '4'])
  })

  test('compensate: completed steps are taken back, the last completed first', async () => {
    const log: string[] = []
    const book = defineJob({
      type: 'book',
      run: ({ what }: { what: string }) => {
        if (what === 'moon') throw new NonRetryable('no places')
        log.push(`book ${what}`)
        return { ticket: `T-${what}` }
      },
    })
    const unbook = defineJob({
      type: 'unbook',
      run: ({ ticket }: { ticket: string }) => void log.push(`undo ${ticket}`),
    })
    const trip = definePipeline({
      name: 'trip',
      onFailure: 'compensate',
      build(p, stops: string[]) {
        let last: Step<{ ticket: string }> | undefined
        for (const what of stops) {
          const after = last ? [last] : []
          const compensate = { job: unbook, input: (booked: { ticket: string }) => ({ ticket: booked.ticket }) }
          last = p.job(book, { what }, { name: what, after, compensate })
        }
        return last
      },
    })
    const holdfast = bench.open({ jobs: [book, unbook], pipelines: [trip] })
    await holdfast.start()

    const handle = await holdfast.enqueuePipeline(trip, ['rome', 'oslo', 'moon', 'mars'])
    await expect(handle.result()).rejects.toMatchObject({ code: 'PIPELINE_FAILED', details: { step: 'moon' } })
    await until(async () => (await handle.read()).state !== 'running')

    expect(log).toEqual(['book rome', 'book oslo', 'undo T-oslo', 'undo T-rome'])
    expect((await handle.read()).compensatedAt).toBeInstanceOf(Date)
    await expect(handle.retry()).rejects.toMatchObject({ code: 'WRONG_STATE' })
  })

  test('a cancelled pipeline ends all its jobs, and its handlers are told', async () => {
    const started = gate()
    const signalled = gate<unknown>()
    const long = defineJob({
      type: 'long',
      run: (_: null, ctx) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => {
            signalled.open(ctx.signal.reason.code)
            reject(ctx.signal.reason)
          })
          started.open()
        }),
    })
    const slow = definePipeline({
      name: 'slow',
      build: (p, _: null) => p.job(double, { n: 1 }, { after: [p.job(long, null)] }),
    })
    const holdfast = bench.open({ jobs: [...jobs, long], pipelines: [slow] })
    await holdfast.start()
    const handle = await holdfast.enqueuePipeline(slow, null)
    await started.opened

    expect(await handle.cancel({ reason: 'enough' })).toBe(2)

    expect(await signalled.opened).toBe('CANCELLED')
    await expect(handle.result()).rejects.toMatchObject({ code: 'PIPELINE_CANCELLED', message: /enough/ })
    expect((await handle.read()).state).toBe('cancelled')
  })
})

describe('what cannot be is refused before anything is stored', () => {
  test.each<[string, (p: PipelineBuilder) => Step, string]>([
    [
      'a circle by names',
      (p) => {
        p.job(size, { text: 'a' }, { name: 'a', after: ['b'] })
        return p.job(size, { text: 'b' }, { name: 'b', after: ['a'] })
      },
      'PIPELINE_CYCLE',
    ],
    ['a step after one that is not there', (p) => p.job(size, { text: 'a' }, { after: ['nowhere'] }), 'UNKNOWN_STEP'],
    [
      'two steps of one name',
      (p) => {
        p.job(size, { text: 'a' })
        return p.job(size, { text: 'b' })
      },
      'DUPLICATE_STEP',
    ],
    ['an input that does not fit the job', (p) => p.job(double, { n: 'many' as never }), 'INVALID_INPUT'],
    ['a step of another pipeline', (p) => p.job(sum, { x: { name: 'x' } }, () => ({ numbers: [] })), 'INVALID_OPTION'],
    [
      'a compensation without the wish to compensate',
      (p) => p.job(double, { n: 1 }, { compensate: { job: size, input: () => ({ text: '' }) } }),
      'INVALID_OPTION',
    ],
    ['a list as the result', (p) => p.map([1], double, (n) => ({ n })) as never, 'INVALID_OPTION'],
  ])('%s', async (_what, build, code) => {
    const holdfast = bench.open({ jobs })
    const odd = definePipeline({ name: 'odd', build: (p, _: null) => build(p as PipelineBuilder) })

    await expect(holdfast.enqueuePipeline(odd, null)).rejects.toMatchObject({ code })
    expect(await bench.look('select * from holdfast.job')).toEqual([])
  })

  test('an input that does not fit the schema of the pipeline', async () => {
    const holdfast = bench.open({ jobs, pipelines: [measured] })

    const wrong = { text: 7 } as never
    await expect(holdfast.enqueuePipeline(measured, wrong)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

test('a computed input that does not fit the schema of its job fails the step for good', async () => {
  const bad = definePipeline({
    name: 'bad',
    build: (p, _: null) => p.job(double, { length: p.job(size, { text: 'abc' }) }, () => ({ n: 'x' }) as never),
  })
  const holdfast = bench.open({ jobs, pipelines: [bad] })
  await holdfast.start()

  const handle = await holdfast.enqueuePipeline(bad, null)

  await expect(handle.result()).rejects.toMatchObject({ code: 'PIPELINE_FAILED', details: { step: 'double' } })
})

test('a worker that lacks the definition says so', async () => {
  const elsewhere = bench.open({ jobs, pipelines: [measured] })
  const { id } = await elsewhere.enqueuePipeline(measured, { text: 'abc', factors: [] })
  const holdfast = bench.open({ jobs })
  const failed = heard(holdfast, 'job.failed')
  await holdfast.start()

  expect((await failed).failure).toMatchObject({ code: 'UNKNOWN_PIPELINE' })
  expect((await holdfast.pipeline(id).read()).state).toBe('running')
})

test('ctx.complete inside ctx.tx takes the chained job with it', async () => {
  const last = defineJob({ type: 'last', run: (n: number) => n })
  const first = defineJob({
    type: 'first',
    run: async (n: number, ctx) => {
      await ctx.chain(last, n + 1)
      await ctx.tx((tx) => ctx.complete(tx, 'done'))
      await expect(ctx.chain(last, 0)).rejects.toBeInstanceOf(HoldfastError)
    },
  })
  const holdfast = bench.open({ jobs: [first, last] })
  const ended = heard(holdfast, 'job.completed', ({ type }) => type === 'last')
  await holdfast.start()

  const handle = await holdfast.enqueue(first, 1)

  expect(await handle.result()).toBe('done')
  expect((await holdfast.find((await ended).id))?.output).toBe(2)
  expect(await bench.look('select count(*)::int as n from holdfast.job')).toEqual([{ n: 2 }])
})

test('a run that fails chains nothing', async () => {
  const last = defineJob({ type: 'last', run: (n: number) => n })
  const first = defineJob({
    type: 'first',
    run: async (n: number, ctx) => {
      await ctx.chain(last, n)
      throw new NonRetryable('after all')
    },
  })
  const holdfast = bench.open({ jobs: [first, last] })
  await holdfast.start()

  await expect((await holdfast.enqueue(first, 1)).result()).rejects.toMatchObject({ code: 'JOB_FAILED' })

  expect(await bench.look(`select type from holdfast.job`)).toEqual([{ type: 'first' }])
})
