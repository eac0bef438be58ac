// A library that takes a PGlite works on the kit's database, in { tx }, in ctx.tx and through crashes.
import { sql } from 'drizzle-orm'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { drizzle, type PgliteDatabase } from 'drizzle-orm/pglite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { createTestHoldfast, type TestHoldfast } from '../../src/testing/test-holdfast.js'

type Tx = Parameters<Parameters<PgliteDatabase['transaction']>[0]>[0]

const account = pgTable('account', { balance: integer().notNull() })
const deposit = defineJob({
  type: 'deposit',
  async run({ amount }: { amount: number }, ctx) {
    await ctx.tx(async (tx: Tx) => {
      await tx.update(account).set({ balance: sql`balance + ${amount}` })
      await ctx.complete(tx)
    })
  },
})

let holdfast: TestHoldfast
let db: PgliteDatabase
beforeAll(async () => {
  holdfast = await createTestHoldfast({ jobs: [deposit], transaction: (work) => db.transaction(work) })
  db = drizzle(holdfast.pglite)
  await db.execute('create table account (balance integer not null)')
})
afterAll(() => holdfast.close())

const balances = () => db.select().from(account)

test('a job enqueued in a transaction lives and dies with it', async () => {
  await db.transaction(async (tx) => {
    await tx.insert(account).values({ balance: 1 })
    await holdfast.enqueue(deposit, { amount: 5 }, { tx })
  })
  const rolledBack = db.transaction(async (tx) => {
    await tx.insert(account).values({ balance: 2 })
    await holdfast.enqueue(deposit, { amount: 7 }, { tx })
    throw new Error('changed my mind')
  })
  await expect(rolledBack).rejects.toThrow('changed my mind')

  await holdfast.drain()

  await holdfast.expectFinished(deposit, undefined, { times: 1 })
  expect(await balances()).toEqual([{ balance: 6 }])
})

test('its effects stay single, wherever the process dies', async () => {
  const report = await holdfast.crashAfterEach(
    deposit,
    { amount: 5 },
    {
      reset: () => db.update(account).set({ balance: 0 }),
      effects: balances,
    },
  )

  report.assertSingle()
  expect(report.crashes.map(({ after }) => after)).toEqual([
    'the claim',
    'ctx.complete',
    'commit',
    'the return of the handler',
  ])
})
