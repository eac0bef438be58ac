// Crash injection tells handlers whose effects stay single from those whose do not.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { createTestHoldfast, type TestHoldfast } from '../../src/testing/test-holdfast.js'

const outbox: string[] = []

const inOne = defineJob({
  type: 'in_one',
  async run({ amount }: { amount: number }, ctx) {
    await ctx.progress(0.5)
    await ctx.tx(async (tx) => {
      await tx.query('insert into entry (amount) values ($1)', [amount])
      await tx.query('update account set balance = balance + $1', [amount])
      await ctx.complete(tx, amount)
    })
  },
})

const inTwo = defineJob({
  type: 'in_two',
  async run({ amount }: { amount: number }, ctx) {
    await ctx.tx((tx) => tx.query('insert into entry (amount) values ($1)', [amount]))
    await ctx.tx((tx) => tx.query('update account set balance = balance + $1', [amount]))
  },
})

const mails = defineJob({
  type: 'mails',
  async run(_: unknown, ctx) {
    await ctx.progress(0)
    outbox.push('a mail')
    await ctx.progress(1)
  },
})

const enqueues = defineJob({
  type: 'enqueues',
  async run({ carefully }: { carefully: boolean }, ctx) {
    const dedupeId = `after ${ctx.job.id}`
    await holdfast.enqueue(mails, {}, carefully ? { dedupeId } : {})
    await ctx.progress(1)
  },
})

let holdfast: TestHoldfast
beforeAll(async () => {
  holdfast = await createTestHoldfast({ jobs: [inOne, inTwo, mails, enqueues] })
  await holdfast.pglite.exec('create table account (balance integer); create table entry (amount integer)')
})
afterAll(() => holdfast.close())

const books = {
  reset: () => holdfast.pglite.exec('delete from entry; delete from account; insert into account values (0)'),
  effects: async () => {
    const text = 'select (select balance from account) as balance, (select count(*)::integer from entry) as entries'
    return (await holdfast.pglite.query(text)).rows[0]
  },
}

test('work and completion in one transaction are single, wherever the process dies', async () => {
  const report = await holdfast.crashAfterEach(inOne, { amount: 5 }, books)

  expect(report.text).toContain('in_one, undisturbed')
  expect(report.undisturbed).toEqual({ state: 'completed', effects: { balance: 5, entries: 1 }, enqueued: [] })
  expect(report.crashes.map(({ after }) => after)).toEqual([
    'the claim',
    'ctx.progress',
    'insert into entry (amount) values ($1)',
    'update account set balance = balance + $1',
    'ctx.complete',
    'commit',
    'the return of the handler',
  ])
  expect(report.isSingle).toBe(true)
  report.assertSingle()
})

test('a crash between two transactions doubles the first, and the report says where', async () => {
  const report = await holdfast.crashAfterEach(inTwo, { amount: 5 }, books)

  expect(report.isSingle).toBe(false)
  expect(report.crashes.filter(({ isSame }) => !isSame).map(({ after, effects }) => [after, effects])).toEqual([
    ['commit', { balance: 5, entries: 2 }],
    ['update account set balance = balance + $1', { balance: 5, entries: 2 }],
    ['commit', { balance: 10, entries: 2 }],
    ['the return of the handler', { balance: 10, entries: 2 }],
  ])
  expect(() => report.assertSingle()).toThrow('a crash changes what a job of type in_two brings about')
})

test('effects outside of the database are seen too', async () => {
  const report = await holdfast.crashAfterEach(mails, {}, { effects: () => outbox.splice(0) })

  expect(report.undisturbed.effects).toEqual(['a mail'])
  expect(report.crashes.map(({ after, effects }) => [after, effects])).toEqual([
    ['the claim', ['a mail']],
    ['ctx.progress', ['a mail']],
    ['ctx.progress', ['a mail', 'a mail']],
    ['the return of the handler', ['a mail', 'a mail']],
  ])
})

test('jobs that the handler enqueues are effects: one without a dedupe id comes twice', async () => {
  const careless = await holdfast.crashAfterEach(enqueues, { carefully: false })
  const careful = await holdfast.crashAfterEach(enqueues, { carefully: true })

  expect(careless.isSingle).toBe(false)
  expect(careless.crashes.at(-1)?.enqueued).toHaveLength(2)
  expect(careful.isSingle).toBe(true)
})

test('the dead run’s lease is really lost: each is reaped and written down, up to the commit that completes the job', async () => {
  const lost = async () => {
    const text = `select count(*)::integer as n from holdfast.attempt where verdict = 'lost' and worker = 'crash-test'`
    return (await holdfast.pglite.query<{ n: number }>(text)).rows[0]?.n ?? 0
  }
  const before = await lost()

  await holdfast.crashAfterEach(inOne, { amount: 1 }, books)

  expect((await lost()) - before).toBe(5)
})
