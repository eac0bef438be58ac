// One commit and one rollback per library, in `{ tx }` and in ctx.tx, against the real thing.
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defineJob, type JobHandle } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'
import { LIBRARIES, type Opened } from './libraries.js'
import { loadPrisma } from './prisma.js'

const bench = useHoldfast()

const ACCOUNTS = 'select id from account order by id'
const INPUT = { text: 'quote " backslash \\ ünïcode 1', nested: { someKey: [1, null] } }

beforeAll(async () => {
  await bench.look('create table public.account (id integer primary key)')
  await bench.look('grant all on public.account to public')
})

const prisma = await loadPrisma()
if (!prisma) console.log('Prisma is not tested: @prisma/client and @prisma/adapter-pg are not installed')
const libraries = { ...LIBRARIES, ...(prisma && { Prisma: prisma }) }

describe.each(Object.entries(libraries))('%s', (_, open) => {
  let library: Opened

  beforeEach(async () => {
    library = await open(bench.database.url)
  })
  afterEach(async () => {
    await bench.closeAll()
    await library.close()
    await bench.look('delete from account')
  })

  const mail = defineJob({ type: 'mail', run: (input: typeof INPUT) => input })

  test('a job enqueued in a transaction that commits is there beside what was written', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    await holdfast.start()
    const handles: JobHandle<unknown>[] = []

    await library.begin(async (tx) => {
      await library.insert(tx, 1)
      const handle = await holdfast.enqueue(mail, INPUT, { tx, tags: ['a', 'b'] })
      expect(await holdfast.find(handle.id)).toBeUndefined()
      handles.push(handle)
    })

    expect(await handles[0]?.result()).toEqual(INPUT)
    expect(await handles[0]?.read()).toMatchObject({ input: INPUT, tags: ['a', 'b'], state: 'completed' })
    expect(await bench.look(ACCOUNTS)).toEqual([{ id: 1 }])
  })

  test('a job enqueued in a transaction that rolls back never existed, nor what was written', async () => {
    const holdfast = bench.open({ jobs: [mail] })

    const rolledBack = library.begin(async (tx) => {
      await library.insert(tx, 2)
      await holdfast.enqueue(mail, INPUT, { tx })
      throw new Error('changed my mind')
    })

    await expect(rolledBack).rejects.toThrow('changed my mind')
    expect(await bench.look('select id from holdfast.jobs')).toEqual([])
    expect(await bench.look(ACCOUNTS)).toEqual([])
  })

  test('a transaction reads, cancels and retries its own job', async () => {
    const holdfast = bench.open({ jobs: [mail] })

    await library.begin(async (tx) => {
      const { id } = await holdfast.enqueue(mail, INPUT, { tx, maxAttempts: 7, tags: ['x'] })
      const job = await holdfast.find(id, { tx })
      expect(job).toMatchObject({ id, state: 'pending', input: INPUT, maxAttempts: 7, tags: ['x'], finishedAt: null })
      expect(job?.createdAt).toBeInstanceOf(Date)
      expect(await holdfast.cancel(id, { tx, reason: 'why "not"' })).toBe('pending')
      expect((await holdfast.find(id, { tx }))?.error?.message).toContain('why "not"')
      expect(await holdfast.retry(id, { tx })).toBe('cancelled')
    })
  })

  test('what is refused inside it has its code', async () => {
    const holdfast = bench.open({ jobs: [mail] })

    const refused = library.begin(async (tx) => {
      await holdfast.cancel('4711', { tx })
    })

    await expect(refused).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', details: { job_id: 4711 } })
  })

  test('ctx.tx hands out the library’s own transaction, and its commit is the job’s completion', async () => {
    const deposit = defineJob({
      type: 'deposit',
      async run(id: number, ctx) {
        await ctx.tx(async (tx: unknown) => {
          await library.insert(tx, id)
          await ctx.complete(tx, { deposited: id })
        })
      },
    })
    const holdfast = bench.open({ jobs: [deposit], transaction: library.begin })
    const handle = await holdfast.enqueue(deposit, 3)

    expect(await holdfast.runJob(handle.id)).toBe(true)

    expect(await handle.result()).toEqual({ deposited: 3 })
    expect(await bench.look(ACCOUNTS)).toEqual([{ id: 3 }])
  })

  test('ctx.tx rolls the library’s transaction back with the handler’s error', async () => {
    const deposit = defineJob({
      type: 'deposit',
      retry: { attempts: 1 },
      async run(id: number, ctx) {
        await ctx.tx(async (tx: unknown) => {
          await library.insert(tx, id)
          await ctx.complete(tx)
          throw new Error('the account is closed')
        })
      },
    })
    const holdfast = bench.open({ jobs: [deposit], transaction: library.begin })
    const handle = await holdfast.enqueue(deposit, 4)

    await holdfast.runJob(handle.id)

    expect((await handle.read()).state).toBe('failed')
    expect(await bench.look(ACCOUNTS)).toEqual([])
  })

  test('a job whose handler swallows an error of its library’s transaction is not completed', async () => {
    const deposit = defineJob({
      type: 'deposit',
      retry: { attempts: 1 },
      run: (id: number, ctx) =>
        ctx.tx(async (tx: unknown) => {
          await library.insert(tx, id)
          await library.insert(tx, id).catch(() => {})
        }),
    })
    const holdfast = bench.open({ jobs: [deposit], transaction: library.begin })
    const handle = await holdfast.enqueue(deposit, 6)

    await holdfast.runJob(handle.id)

    expect((await handle.read()).state).toBe('failed')
    expect(await bench.look(ACCOUNTS)).toEqual([])
  })

  test('a run that has lost its job writes nothing by its library', async () => {
    let begun = 0
    const deposit = defineJob({
      type: 'deposit',
      async run(id: number, ctx) {
        await holdfast.cancel(ctx.job.id)
        await ctx.tx(async (tx: unknown) => {
          begun += 1
          await library.insert(tx, id)
        })
      },
    })
    const holdfast = bench.open({ jobs: [deposit], transaction: library.begin })
    const handle = await holdfast.enqueue(deposit, 5)

    await holdfast.runJob(handle.id)

    expect(begun).toBe(0)
    expect((await handle.read()).state).toBe('cancelled')
    expect(await bench.look(ACCOUNTS)).toEqual([])
  })

  test('what the library has outside a transaction is refused as one', async () => {
    const holdfast = bench.open({ jobs: [mail] })

    const refused = holdfast.enqueue(mail, INPUT, { tx: library.outside })

    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining('pass') })
    expect(await bench.look('select id from holdfast.jobs')).toEqual([])
  })
})
