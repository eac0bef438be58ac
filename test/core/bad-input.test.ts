// Bad values at the door: each is refused with its code before anything is stored, and none stops the queue.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, type EnqueueOptions } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let n = 0; n < levels; n += 1) value = [value]
  return value
}

const circular: Record<string, unknown> = { a: { b: {} } }
circular.a = { b: circular }

const BAD_INPUTS: [title: string, input: unknown, problem: RegExp][] = [
  ['a text too long to store', 'x'.repeat(262_143), /262144/],
  ['many small parts that are too long as stored text', Array.from({ length: 90_000 }, () => 1), /262144/],
  ['a number that is too long once written out', Array.from({ length: 1000 }, () => 1e300), /262144/],
  ['more than 64 levels', nested(65), /64/],
  ['the character \\u0000', { text: 'a\u0000b' }, /u0000/],
  ['the character \\u0000 in a name', { 'a\u0000': 1 }, /u0000/],
  ['a lone high surrogate', ['\ud800'], /surrogate/],
  ['a lone low surrogate in a name', { '\udc00': 1 }, /surrogate/],
  ['NaN', { n: Number.NaN }, /NaN/],
  ['Infinity', { n: Number.POSITIVE_INFINITY }, /Infinity/],
  ['a BigInt', { n: 1n }, /bigint/],
  ['a value that contains itself', circular, /contains itself/],
  ['a function', { run: () => {} }, /function/],
  ['a symbol', Symbol('s'), /symbol/],
  ['undefined in a list', [undefined], /undefined/],
  [
    'a getter that throws',
    {
      get secret() {
        throw new Error('hands off')
      },
    },
    /hands off/,
  ],
]

describe('an input that JSON or PostgreSQL cannot hold', () => {
  test.each(BAD_INPUTS)('%s is refused with INVALID_INPUT', async (_, input, problem) => {
    const holdfast = bench.open({ jobs: [echo] })

    const error = await holdfast.enqueue(echo, input).catch((thrown: unknown) => thrown)

    expect(error).toMatchObject({
      name: 'HoldfastError',
      code: 'INVALID_INPUT',
      message: expect.stringMatching(problem),
    })
    await expect(holdfast.enqueueMany(echo, [1, input, 2])).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await bench.look('select id from holdfast.job')).toEqual([])
  })

  test('the refusal says where the bad part is', async () => {
    const holdfast = bench.open({ jobs: [echo] })

    const enqueued = holdfast.enqueue(echo, { rows: [{ ok: 1 }, { name: 'a\u0000b' }] })

    await expect(enqueued).rejects.toMatchObject({ details: { path: '$.rows[1].name' } })
  })

  test('a good job after all of them completes', async () => {
    const holdfast = bench.open({ jobs: [echo] })
    await holdfast.start()
    for (const [, input] of BAD_INPUTS) await holdfast.enqueue(echo, input).catch(() => {})

    const handle = await holdfast.enqueue(echo, 'good')

    expect(await handle.result()).toBe('good')
  })
})

describe('an input at the limits is stored and comes back as it was', () => {
  test.each<[string, unknown]>([
    ['the longest text', 'x'.repeat(262_142)],
    ['64 levels', nested(64)],
    ['large and small numbers', [1e300, -1e300, 5e-324, Number.MAX_SAFE_INTEGER, 0.1]],
    ['all planes of Unicode', '\u0001\t\n"\\/é漢\u2028😀'],
    ['nothing', null],
    [
      'names that mean something to JavaScript',
      JSON.parse('{"__proto__": {"isAdmin": true}, "constructor": 1, "toString": 2}'),
    ],
  ])('%s', async (_, input) => {
    const holdfast = bench.open({ jobs: [echo] })
    const handle = await holdfast.enqueue(echo, input)

    await holdfast.runJob(handle.id)

    expect(JSON.stringify((await handle.read()).error)).toBe('null')
    expect(await handle.result()).toEqual(input)
  })

  test('a hostile __proto__ stays data and changes no prototype', async () => {
    const hostile = JSON.parse(
      '{"__proto__": {"isAdmin": true}, "a": {"constructor": {"prototype": {"isAdmin": true}}}}',
    )
    let seen: unknown
    const look = defineJob({
      type: 'look',
      run(input: Record<string, unknown>) {
        seen = { isAdmin: input.isAdmin, own: Object.hasOwn(input, '__proto__'), names: Object.keys(input).sort() }
      },
    })
    const holdfast = bench.open({ jobs: [look] })
    const handle = await holdfast.enqueue(look, hostile)

    await holdfast.runJob(handle.id)

    expect(seen).toEqual({ isAdmin: undefined, own: true, names: ['__proto__', 'a'] })
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined()
  })
})

describe('an option that is none', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a priority below 0', { priority: -1 }],
    ['a priority above 9', { priority: 10 }],
    ['half a priority', { priority: 2.5 }],
    ['a priority that is text', { priority: '5' }],
    ['an unknown option', { prio: 3 }],
    ['an invalid date', { runAt: new Date('never') }],
    ['a date that is text', { runAt: '2030-01-01T00:00:00Z' }],
    ['a date beyond the years of four digits', { runAt: new Date(8.64e15) }],
    ['a delay that is none', { delay: 'soon' }],
    ['a negative delay', { delay: -1 }],
    ['both a delay and a date', { delay: '1s', runAt: new Date() }],
    ['a queue without a name', { queue: '' }],
    ['a queue with a control character', { queue: 'a\u0000b' }],
    ['a queue with a very long name', { queue: 'q'.repeat(101) }],
    ['no attempts', { maxAttempts: 0 }],
    ['too many attempts', { maxAttempts: 1001 }],
    ['a pipeline that is no UUID', { pipelineId: 'p1' }],
    ['a pipeline id with SQL in it', { pipelineId: `'); drop table holdfast.job; --` }],
    ['tags that are no list', { tags: 'urgent' }],
    ['too many tags', { tags: Array(21).fill('t') }],
    ['an empty tag', { tags: [''] }],
    ['a very long key', { key: 'k'.repeat(513) }],
    ['a key that JSON cannot express', { key: { n: Number.NaN } }],
    ['a key with \\u0000', { key: 'a\u0000' }],
    ['an unknown key policy', { key: 'k', keyPolicy: 'first-wins' }],
    ['an unknown way to coalesce', { key: 'k', keyPolicy: 'coalesce', coalesce: 'merge' }],
    ['a dedupe id that is no text', { dedupeId: 7 }],
    ['an empty dedupe id', { dedupeId: '' }],
    ['a dedupe id with half a surrogate pair', { dedupeId: '\ud83d' }],
  ])('%s is refused with INVALID_OPTION', async (_, options) => {
    const holdfast = bench.open({ jobs: [echo] })

    const enqueued = holdfast.enqueue(echo, {}, options as EnqueueOptions)

    await expect(enqueued).rejects.toMatchObject({ name: 'HoldfastError', code: 'INVALID_OPTION' })
    expect(await bench.look('select id from holdfast.job')).toEqual([])
  })

  test('names that look like SQL are only names', async () => {
    const holdfast = bench.open({ jobs: [echo] })
    const name = `'; drop table holdfast.job; --"$1%s`

    const handle = await holdfast.enqueue(echo, { name }, { queue: name, key: name, dedupeId: name, tags: [name] })

    expect(await handle.read()).toMatchObject({ queue: name, key: name, dedupeId: name, tags: [name], input: { name } })
    expect(await holdfast.runJob(handle.id)).toBe(true)
    expect((await holdfast.current(name))?.id).toBe(handle.id)
  })
})

describe('a type that is not defined', () => {
  test('its name is refused with UNKNOWN_TYPE and the names that are known', async () => {
    const holdfast = bench.open({ jobs: [echo] })

    // @ts-expect-error
    await expect(holdfast.enqueue('ecco', {})).rejects.toMatchObject({
      code: 'UNKNOWN_TYPE',
      details: { received: 'ecco', known: ['echo'] },
    })
    // @ts-expect-error
    await expect(holdfast.enqueueMany('__proto__', [])).rejects.toMatchObject({ code: 'UNKNOWN_TYPE' })
  })
})

describe('a value of the wrong kind', () => {
  test.each(['x', Number.NaN, null, undefined, {}])(
    '%s is refused as a progress, with what was received',
    async (share) => {
      const report = defineJob({
        type: 'report',
        retry: { attempts: 1 },
        run: (_, ctx) => ctx.progress(share as never),
      })
      const holdfast = bench.open({ jobs: [report] })
      const handle = await holdfast.enqueue(report, {})

      await holdfast.runJob(handle.id)

      const message = expect.stringMatching(/^progress must be a number from 0 to 1; received /)
      expect((await handle.read()).error).toMatchObject({ code: 'INVALID_OPTION', message })
    },
  )

  test.each(['x', 'a\u0000', 1.5, {}, -1])(
    '%s is refused as the place or the length of a list of log lines',
    async (value) => {
      const holdfast = bench.open({ jobs: [echo] })

      await expect(holdfast.logs('1', { after: value as never })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      await expect(holdfast.logs('1', { limit: value as never })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    },
  )

  test('inputs that are no list are refused', async () => {
    const holdfast = bench.open({ jobs: [echo] })

    await expect(holdfast.enqueueMany(echo, {} as never)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('an input that does not fit its schema', () => {
  const invoice = defineJob({
    type: 'invoice',
    input: z.object({ customer: z.string().min(1), lines: z.array(z.object({ amount: z.number().positive() })) }),
    run: ({ lines }) => lines.length,
  })

  test('it is refused with INVALID_INPUT and every issue', async () => {
    const holdfast = bench.open({ jobs: [invoice] })

    const enqueued = holdfast.enqueue(invoice, { customer: '', lines: [{ amount: 1 }, { amount: -1 }] })

    await expect(enqueued).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('the input of invoice does not fit its schema: customer'),
      details: {
        type: 'invoice',
        issues: [
          { path: 'customer', message: expect.any(String) },
          { path: 'lines.1.amount', message: expect.any(String) },
        ],
      },
    })
  })

  test('a schema that refuses by a promise is waited for', async () => {
    const known = defineJob({
      type: 'known',
      input: z.object({ id: z.number() }).refine(async ({ id }) => id !== 13, 'id 13 is not known'),
      run: ({ id }) => id,
    })
    const holdfast = bench.open({ jobs: [known] })

    await expect(holdfast.enqueue(known, { id: 13 })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const handle = await holdfast.enqueue(known, { id: 14 })
    await holdfast.runJob(handle.id)
    expect(await handle.result()).toBe(14)
  })
})
