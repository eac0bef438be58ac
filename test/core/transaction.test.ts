// Enqueueing inside the caller's own transaction: the job exists if and only if that commits.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { heard, useHoldfast } from '../support/holdfast.js'
import { inTransaction as inOwnTransaction, type Tx } from '../support/own-transaction.js'

const bench = useHoldfast()

const mail = defineJob({ type: 'mail', run: ({ to }: { to: string }) => `sent to ${to}` })

const inTransaction = <T>(work: (tx: Tx) => Promise<T>) => inOwnTransaction(bench.database, work)

beforeAll(async () => {
  await bench.look('create table public.orders (id integer primary key)')
  if (bench.database.engine === 'postgres') await bench.look('grant all on public.orders to public')
})
afterAll(() => bench.database.pglite?.exec('drop table public.orders'))

test('a job enqueued in a transaction exists once it commits, beside what the caller wrote', async () => {
  const holdfast = bench.open({ jobs: [mail] })
  await holdfast.start()

  const handle = await inTransaction(async (tx) => {
    await tx.query('insert into public.orders values (1)')
    return holdfast.enqueue(mail, { to: 'ada' }, { tx })
  })

  expect(await handle.result()).toBe('sent to ada')
  expect(await bench.look('select id from public.orders')).toEqual([{ id: 1 }])
})

test('a job enqueued in a transaction that rolls back never existed', async () => {
  const holdfast = bench.open({ jobs: [mail] })
  let id = ''

  const rolledBack = inTransaction(async (tx) => {
    await tx.query('insert into public.orders values (2)')
    id = (await holdfast.enqueue(mail, { to: 'ada' }, { tx })).id
    throw new Error('changed my mind')
  })

  await expect(rolledBack).rejects.toThrow('changed my mind')
  expect(id).not.toBe('')
  expect(await holdfast.find(id)).toBeUndefined()
  expect(await bench.look('select id from public.orders where id = 2')).toEqual([])
})

test('many jobs enqueued in one transaction commit together', async () => {
  const holdfast = bench.open({ jobs: [mail] })
  await holdfast.start()

  const handles = await inTransaction((tx) => holdfast.enqueueMany('mail', [{ to: 'a' }, { to: 'b' }], { tx }))

  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(['sent to a', 'sent to b'])
})

test('a transaction sees its own job before it commits', async () => {
  const holdfast = bench.open({ jobs: [mail] })

  const seen = await inTransaction(async (tx) => {
    const { id } = await holdfast.enqueue(mail, { to: 'ada' }, { tx })
    return holdfast.find(id, { tx })
  })

  expect(seen?.state).toBe('pending')
})

test('a cancellation inside a transaction is undone with it', async () => {
  const holdfast = bench.open({ jobs: [mail] })
  const { id } = await holdfast.enqueue(mail, { to: 'ada' })

  const rolledBack = inTransaction(async (tx) => {
    expect(await holdfast.cancel(id, { tx })).toBe('pending')
    throw new Error('changed my mind')
  })

  await expect(rolledBack).rejects.toThrow('changed my mind')
  expect((await holdfast.find(id))?.state).toBe('pending')
})

test('a worker runs beside an open transaction of the caller and is not undone with it', async () => {
  const holdfast = bench.open({ jobs: [mail] })
  const isOpen = gate()
  const mayEnd = gate()
  const rolledBack = inTransaction(async (tx) => {
    await tx.query('insert into public.orders values (3)')
    isOpen.open()
    await mayEnd.opened
    throw new Error('changed my mind')
  })
  await isOpen.opened

  const enqueued = holdfast.enqueue(mail, { to: 'ada' })
  // On a server the worker does not wait for the caller; on PGlite, with its one session, it takes its turn afterwards.
  if (bench.database.engine === 'postgres') await enqueued
  mayEnd.open()

  await expect(rolledBack).rejects.toThrow('changed my mind')
  const handle = await enqueued
  await holdfast.start()
  expect(await handle.result()).toBe('sent to ada')
  expect(await bench.look('select id from public.orders where id = 3')).toEqual([])
})

test('statements of the caller and of a busy worker do not mix', async () => {
  const holdfast = bench.open({ jobs: [mail] })
  await holdfast.start()

  const handles = await holdfast.enqueueMany(
    mail,
    Array.from({ length: 50 }, (_, n) => ({ to: String(n) })),
  )
  for (let n = 100; n < 120; n += 1) {
    await inTransaction(async (tx) => {
      await tx.query('insert into public.orders values ($1)', [n])
      if (n % 2 === 1) throw new Error('odd')
    }).catch((error) => expect(error.message).toBe('odd'))
  }

  expect(await Promise.all(handles.map((handle) => handle.result()))).toHaveLength(50)
  expect(await bench.look('select count(*)::integer as n from public.orders where id >= 100')).toEqual([{ n: 10 }])
  expect(await bench.look('select max(attempts)::integer as most from holdfast.jobs')).toEqual([{ most: 1 }])
})

test('what is not a transaction is refused as one', async () => {
  const holdfast = bench.open({ jobs: [mail] })

  const { pglite, pool } = bench.database
  for (const tx of [null, 'begin', {}, 7, pglite ?? pool]) {
    await expect(holdfast.enqueue(mail, { to: 'ada' }, { tx })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  }
})

test('a job enqueued in a transaction is told only by the database', async () => {
  const holdfast = bench.open({ jobs: [mail] })
  const told: unknown[] = []
  holdfast.on('job.enqueued', (fact) => told.push(fact))

  await inTransaction((tx) => holdfast.enqueue(mail, { to: 'ada' }, { tx }))
  const next = heard(holdfast, 'job.enqueued')
  const handle = await holdfast.enqueue(mail, { to: 'grace' })

  expect((await next).ids).toEqual([handle.id])
  expect(told).toHaveLength(1)
})

test('a way to begin a transaction that is none is refused, and one that begins none fails the job with the reason', async () => {
  expect(() => bench.open({ jobs: [mail], transaction: 'begin' as never })).toThrow('transaction')
  let worked = false
  const deposit = defineJob({
    type: 'deposit',
    retry: { attempts: 1 },
    run: (_, ctx) =>
      ctx.tx(async () => {
        worked = true
      }),
  })
  const holdfast = bench.open({ jobs: [deposit], transaction: async () => {} })
  const handle = await holdfast.enqueue(deposit, {})

  await holdfast.runJob(handle.id)

  expect(worked).toBe(false)
  expect((await handle.read()).error?.message).toBe(
    'the option transaction must call the work that it is given, and wait for it',
  )
})

test('a handler that swallows an error of PostgreSQL in its transaction does not complete: nothing was committed', async () => {
  const deposit = defineJob({
    type: 'deposit',
    retry: { attempts: 1 },
    run: (_, ctx) =>
      ctx.tx(async (tx: Tx) => {
        await tx.query('insert into public.orders values (200)')
        await tx.query('select 1 / 0').catch(() => {})
        return 'paid'
      }),
  })
  const holdfast = bench.open({ jobs: [deposit] })
  const handle = await holdfast.enqueue(deposit, {})

  await holdfast.runJob(handle.id)

  expect(await handle.read()).toMatchObject({ state: 'failed', error: { code: 'TRANSACTION_ROLLED_BACK' } })
  expect(await bench.look('select id from public.orders where id = 200')).toEqual([])
})

test('a transaction of the option transaction that PostgreSQL has aborted does not complete the job either', async () => {
  const deposit = defineJob({
    type: 'deposit',
    retry: { attempts: 1 },
    run: (_, ctx) => ctx.tx(async (tx: Tx) => void (await tx.query('select 1 / 0').catch(() => {}))),
  })
  const transaction = (work: (tx: unknown) => Promise<void>) => inTransaction(work)
  const holdfast = bench.open({ jobs: [deposit], transaction })
  const handle = await holdfast.enqueue(deposit, {})

  await holdfast.runJob(handle.id)

  expect(await handle.read()).toMatchObject({ state: 'failed', error: { code: 'TRANSACTION_ROLLED_BACK' } })
})
