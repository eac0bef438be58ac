// What the compiler knows: inputs and outputs by definition and by name. The negatives fail the type check if they compile.
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  cancel,
  createHoldfast,
  defineJob,
  definePipeline,
  handle,
  type JobContext,
  type JobHandle,
  type PipelineHandle,
  type StepResult,
  snooze,
} from '../../src/index.js'

const resize = defineJob({
  type: 'resize',
  input: z.object({ width: z.number(), at: z.string().transform((text) => new Date(text)) }),
  run(input, ctx) {
    expectTypeOf(input).toEqualTypeOf<{ width: number; at: Date }>()
    expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>()
    expectTypeOf(ctx.job.attempts).toEqualTypeOf<number>()
    return { pixels: input.width ** 2 }
  },
})
const mail = defineJob({ type: 'mail', run: async (input: { to: string }) => input.to.length })
const contract = defineJob({ type: 'contract', input: z.object({ id: z.number() }) })
const polling = defineJob({
  type: 'polling',
  run: async (input: { done: boolean }) => (input.done ? 'done' : Math.random() > 2 ? cancel() : snooze('1s')),
})

// Never called: only its types matter.
const typed = () => createHoldfast({ jobs: [resize, mail, contract, polling] })

test('the input of an enqueue is what the schema takes, the output what the handler returns', () => {
  const use = async () => {
    const holdfast = typed()
    expectTypeOf(holdfast.enqueue(resize, { width: 1, at: '2026' })).resolves.toEqualTypeOf<
      JobHandle<{ pixels: number }>
    >()
    const { pixels } = await (await holdfast.enqueue(resize, { width: 1, at: '2026' })).result()
    expectTypeOf(pixels).toEqualTypeOf<number>()
    expectTypeOf(holdfast.enqueue(mail, { to: 'ada' })).resolves.toEqualTypeOf<JobHandle<number>>()
    // @ts-expect-error the schema takes a text and makes a date of it
    await holdfast.enqueue(resize, { width: 1, at: new Date() })
    // @ts-expect-error width is missing
    await holdfast.enqueue(resize, { at: '2026' })
    // @ts-expect-error to is a text
    await holdfast.enqueue(mail, { to: 7 })
  }
  expectTypeOf(use).returns.resolves.toBeVoid()
})

test('a name stands for its definition', () => {
  const use = async () => {
    const holdfast = typed()
    expectTypeOf(holdfast.enqueue('resize', { width: 1, at: '2026' })).resolves.toEqualTypeOf<
      JobHandle<{ pixels: number }>
    >()
    expectTypeOf(holdfast.enqueue('mail', { to: 'ada' })).resolves.toEqualTypeOf<JobHandle<number>>()
    // @ts-expect-error no such job
    await holdfast.enqueue('resise', { width: 1, at: '2026' })
    // @ts-expect-error the input of another job
    await holdfast.enqueue('mail', { width: 1, at: '2026' })
  }
  expectTypeOf(use).returns.resolves.toBeVoid()
})

test('many inputs, and options that are functions of them', () => {
  const use = async () => {
    const holdfast = typed()
    expectTypeOf(holdfast.enqueueMany('mail', [{ to: 'ada' }])).resolves.toEqualTypeOf<JobHandle<number>[]>()
    await holdfast.enqueueMany(mail, [{ to: 'ada' }], {
      key(input, index) {
        expectTypeOf(input).toEqualTypeOf<{ to: string }>()
        expectTypeOf(index).toEqualTypeOf<number>()
        return input.to
      },
    })
    // @ts-expect-error one dedupe id for many jobs would make them one
    await holdfast.enqueueMany(mail, [{ to: 'ada' }], { dedupeId: 'one' })
    // @ts-expect-error a priority is a number
    await holdfast.enqueue(mail, { to: 'ada' }, { priority: 'high' })
    // @ts-expect-error a delay has a unit
    await holdfast.enqueue(mail, { to: 'ada' }, { delay: '5 minutes' })
    // @ts-expect-error no such option
    await holdfast.enqueue(mail, { to: 'ada' }, { prio: 1 })
  }
  expectTypeOf(use).returns.resolves.toBeVoid()
})

test('a contract has its input; its handler gets what the schema makes of it', () => {
  const handled = handle(contract, (input) => {
    expectTypeOf(input).toEqualTypeOf<{ id: number }>()
    return input.id
  })
  expectTypeOf(handled.type).toEqualTypeOf<'contract'>()
  const use = async () => {
    const holdfast = typed()
    expectTypeOf(holdfast.enqueue(contract, { id: 1 })).resolves.toEqualTypeOf<JobHandle<unknown>>()
    // @ts-expect-error the id is a number
    await holdfast.enqueue('contract', { id: '1' })
  }
  expectTypeOf(use).returns.resolves.toBeVoid()
})

test('snooze and cancel are no outputs', () => {
  const use = async () =>
    expectTypeOf(typed().enqueue(polling, { done: true })).resolves.toEqualTypeOf<JobHandle<'done'>>()
  expectTypeOf(use).toBeFunction()
})

test('definitions are checked where they are written', () => {
  // @ts-expect-error not a policy
  const policy = () => defineJob({ type: 'job', keyPolicy: 'latest' })
  // @ts-expect-error a lease has a unit
  const lease = () => defineJob({ type: 'job', lease: '5 minutes' })
  // @ts-expect-error a type is needed
  const nameless = () => defineJob({ run: () => {} })
  for (const define of [policy, lease, nameless]) expectTypeOf(define).toBeFunction()
})

test('the transaction of a handler is Holdfast’s own unless the handler names its library’s', () => {
  interface LibraryTx {
    insert(row: object): Promise<void>
  }
  const use = (ctx: JobContext) => {
    expectTypeOf(ctx.tx(async (tx) => (await tx.query('select 1')).rows)).resolves.toEqualTypeOf<
      Record<string, unknown>[]
    >()
    expectTypeOf(ctx.tx(async (tx: LibraryTx) => tx.insert({}))).resolves.toBeVoid()
    // @ts-expect-error Holdfast's own has no such method
    void ctx.tx((tx) => tx.insert({}))
  }
  expectTypeOf(use).returns.toBeVoid()
})

test('results of steps are typed by the jobs that give them, and by what happens after a failure', () => {
  const picture = definePipeline({
    name: 'picture',
    input: z.object({ widths: z.array(z.number()), to: z.string() }),
    build(p, input) {
      expectTypeOf(input).toEqualTypeOf<{ widths: number[]; to: string }>()
      const all = p.map(input.widths, resize, (width, index) => {
        expectTypeOf(index).toEqualTypeOf<number>()
        return { width, at: '2026' }
      })
      const sent = p.job(mail, { to: input.to })
      // @ts-expect-error to is a text
      p.job(mail, { to: 7 }, { name: 'wrong' })
      // @ts-expect-error the input is computed to be what the job takes
      p.job(mail, { sent }, (r) => ({ to: r.sent }), { name: 'wrong too' })
      return p.job(mail, { all, sent }, (r) => {
        expectTypeOf(r.all).toEqualTypeOf<readonly { pixels: number }[]>()
        expectTypeOf(r.sent).toEqualTypeOf<number>()
        return { to: String(r.sent) }
      })
    },
  })
  definePipeline({
    name: 'lenient',
    onFailure: 'continue',
    build(p, to: string) {
      const sent = p.job(mail, { to })
      p.job(mail, { sent }, ({ sent: result }) => {
        expectTypeOf(result).toEqualTypeOf<StepResult<number>>()
        return { to: result.state === 'completed' ? String(result.output) : (result.error?.message ?? '') }
      })
    },
  })
  definePipeline({
    name: 'undone',
    onFailure: 'compensate',
    build(p, to: string) {
      const compensate = { job: mail, input: (length: number) => ({ to: String(length) }) }
      p.job(mail, { to }, { compensate })
      // @ts-expect-error the compensation of a resize gets what the resize gave
      p.job(resize, { width: 1, at: '2026' }, { compensate })
    },
  })
  const use = async () => {
    const holdfast = typed()
    const handle = await holdfast.enqueuePipeline(picture, { widths: [1], to: 'ada' })
    expectTypeOf(handle).toEqualTypeOf<PipelineHandle<number>>()
    // @ts-expect-error widths are numbers
    await holdfast.enqueuePipeline(picture, { widths: ['1'], to: 'ada' })
  }
  expectTypeOf(use).returns.resolves.toBeVoid()
})

test('what is chained must fit the job that follows', () => {
  defineJob({
    type: 'first',
    async run(_: null, ctx) {
      await ctx.chain(mail, { to: 'ada' })
      await ctx.chain(resize, { width: 1, at: '2026' }, { delay: '5m' })
      // @ts-expect-error to is a text
      await ctx.chain(mail, { to: 7 })
      // @ts-expect-error the schema takes a text and makes a date of it
      await ctx.chain(resize, { width: 1, at: new Date() })
    },
  })
})
