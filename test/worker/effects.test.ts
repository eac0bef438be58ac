// Work done in the job's own transaction takes effect once, however often connections break and the job is started.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { heard, heardTimes, until, useHoldfast } from '../support/holdfast.js'
import { lossyPool } from '../support/lossy-pool.js'

const bench = useHoldfast()

beforeAll(async () => {
  await bench.look('create table public.effects (n integer not null)')
  await bench.look('grant all on public.effects to public')
})
beforeEach(() => bench.look('delete from public.effects'))

const effects = () => bench.look('select n from public.effects order by n')

test('ctx.complete commits the effect and the completion together', async () => {
  const inside: unknown[] = []
  const write = defineJob({
    type: 'write',
    run: (n: number, ctx) =>
      ctx.tx(async (tx) => {
        await tx.query('insert into public.effects values ($1)', [n])
        await ctx.complete(tx, { wrote: n })
        inside.push(await effects(), (await holdfast.find(ctx.job.id))?.state)
      }),
  })
  const holdfast = bench.open({ jobs: [write] })
  const handle = await holdfast.enqueue(write, 7)

  expect(await holdfast.runJob(handle.id)).toBe(true)

  expect(inside).toEqual([[], 'running'])
  expect(await effects()).toEqual([{ n: 7 }])
  expect(await handle.read()).toMatchObject({ state: 'completed', output: { wrote: 7 }, attempts: 1 })
})

test('a transaction that rolls back after ctx.complete undoes both', async () => {
  const write = defineJob({
    type: 'write',
    retry: { base: '1h' },
    run: (n: number, ctx) =>
      ctx.tx(async (tx) => {
        await tx.query('insert into public.effects values ($1)', [n])
        await ctx.complete(tx, 'done')
        throw new Error('after all, no')
      }),
  })
  const holdfast = bench.open({ jobs: [write] })
  const handle = await holdfast.enqueue(write, 7)

  await holdfast.runJob(handle.id)

  expect(await effects()).toEqual([])
  expect(await handle.read()).toMatchObject({ state: 'pending', attempts: 1, output: null })
})

test('what a handler throws after its completion has committed does not undo it', async () => {
  const write = defineJob({
    type: 'write',
    async run(n: number, ctx) {
      await ctx.tx(async (tx) => {
        await tx.query('insert into public.effects values ($1)', [n])
        await ctx.complete(tx, 'done')
      })
      throw new Error('too late')
    },
  })
  const holdfast = bench.open({ jobs: [write] })
  const handle = await holdfast.enqueue(write, 7)

  await holdfast.runJob(handle.id)

  expect(await effects()).toEqual([{ n: 7 }])
  expect(await handle.read()).toMatchObject({ state: 'completed', output: 'done' })
})

test('ctx.tx commits its writes without completing, and gives what the work gives', async () => {
  const write = defineJob({
    type: 'write',
    async run(n: number, ctx) {
      const doubled = await ctx.tx(async (tx) => {
        const { rows } = await tx.query('insert into public.effects values ($1) returning n * 2 as twice', [n])
        return rows[0]?.twice
      })
      return doubled
    },
  })
  const holdfast = bench.open({ jobs: [write] })
  const handle = await holdfast.enqueue(write, 4)

  await holdfast.runJob(handle.id)

  expect(await handle.result()).toBe(8)
  expect(await effects()).toEqual([{ n: 4 }])
})

test('ctx.tx of a run whose job was cancelled is refused and writes nothing', async () => {
  const started = gate()
  const mayWrite = gate()
  const refusal = gate<unknown>()
  const write = defineJob({
    type: 'write',
    async run(n: number, ctx) {
      started.open()
      await mayWrite.opened
      await ctx
        .tx((tx) => tx.query('insert into public.effects values ($1)', [n]))
        .catch((error: unknown) => {
          refusal.open(error)
          throw error
        })
    },
  })
  const holdfast = bench.open({ jobs: [write] })
  await holdfast.start()
  const handle = await holdfast.enqueue(write, 7)
  await started.opened
  const lost = heard(holdfast, 'job.lost')

  await handle.cancel()
  mayWrite.open()

  expect(await refusal.opened).toMatchObject({ code: 'LEASE_LOST' })
  await lost
  expect(await effects()).toEqual([])
  expect((await handle.read()).state).toBe('cancelled')
})

test('ctx.tx of a superseded run is refused and only the newer one writes', async () => {
  const started = gate()
  const mayWrite = gate()
  const write = defineJob({
    type: 'write',
    key: () => 'k',
    keyPolicy: 'supersede',
    async run(n: number, ctx) {
      if (n === 1) {
        started.open()
        await mayWrite.opened
      }
      await ctx.tx(async (tx) => {
        await tx.query('insert into public.effects values ($1)', [n])
        await ctx.complete(tx, n)
      })
    },
  })
  const holdfast = bench.open({ jobs: [write] })
  await holdfast.start()
  const older = await holdfast.enqueue(write, 1)
  await started.opened
  const newer = await holdfast.enqueue(write, 2)
  expect(await newer.result()).toBe(2)
  const lost = heard(holdfast, 'job.lost')

  mayWrite.open()

  expect(await lost).toMatchObject({ id: older.id })
  expect(await effects()).toEqual([{ n: 2 }])
})

test('no caller can cancel a job between its ctx.tx and the commit', async () => {
  const inTransaction = gate()
  const mayCommit = gate()
  const write = defineJob({
    type: 'write',
    run: (n: number, ctx) =>
      ctx.tx(async (tx) => {
        await tx.query('insert into public.effects values ($1)', [n])
        inTransaction.open()
        await mayCommit.opened
        await ctx.complete(tx, 'done')
      }),
  })
  const holdfast = bench.open({ jobs: [write] })
  const handle = await holdfast.enqueue(write, 7)
  const running = holdfast.runJob(handle.id)
  await inTransaction.opened

  const cancelled = handle.cancel().catch((error: unknown) => error)
  await until(
    async () =>
      (
        await bench.look(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).length > 0,
  )
  mayCommit.open()
  await running

  expect(await cancelled).toMatchObject({ code: 'WRONG_STATE', details: { state: 'completed' } })
  expect(await effects()).toEqual([{ n: 7 }])
})

test('a completion whose answer was lost is sent again, and the handler is not run again', async () => {
  const { pool, loseAnswerTo, timesSent } = lossyPool(bench.database.url)
  let runs = 0
  const once = defineJob({ type: 'once', run: () => ++runs })
  const holdfast = bench.open({ jobs: [once], database: pool })
  const faults: string[] = []
  holdfast.on('worker.fault', ({ doing }) => faults.push(doing))
  await holdfast.start()
  const lost = loseAnswerTo('complete_plain_jobs_v1')

  const handle = await holdfast.enqueue(once, {})
  await lost

  expect(await handle.result()).toBe(1)
  await until(async () => timesSent('complete_plain_jobs_v1') === 2)
  await holdfast.close()
  expect(await bench.look('select state, attempts from holdfast.jobs')).toEqual([{ state: 'completed', attempts: 1 }])
  expect(runs).toBe(1)
  expect(faults).toEqual(['settling 1 jobs'])
  await pool.end()
})

test('a failure whose answer was lost is counted once', async () => {
  const { pool, loseAnswerTo } = lossyPool(bench.database.url)
  const broken = defineJob({ type: 'broken', retry: { base: '1h' }, run: () => Promise.reject(new Error('no')) })
  const holdfast = bench.open({ jobs: [broken], database: pool })
  await holdfast.start()
  const failed = heard(holdfast, 'job.failed')
  const lost = loseAnswerTo('settle_jobs_v1')

  const handle = await holdfast.enqueue(broken, {})
  await lost

  expect(await failed).toMatchObject({ id: handle.id, isFinal: false })
  expect(await handle.read()).toMatchObject({ state: 'pending', attempts: 1 })
  expect(await bench.look('select attempt from holdfast.attempt')).toEqual([{ attempt: 1 }])
  await holdfast.close()
  await pool.end()
})

test('a claim whose answer was lost is released: its jobs run at once, and the lost claim does not count', async () => {
  const { pool, loseAnswerTo } = lossyPool(bench.database.url)
  const runs: number[] = []
  const note = defineJob({ type: 'note', lease: '10m', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note], database: pool })
  const handles = await holdfast.enqueueMany(note, [1, 2, 3])
  const lost = loseAnswerTo('claim_batch_v1')

  await holdfast.start()
  await lost
  await Promise.all(handles.map((handle) => handle.result()))

  expect(runs.sort()).toEqual([1, 2, 3])
  const claimedTwice = { state: 'completed', attempts: 1, token: '2' }
  expect(await bench.look('select state, attempts, token from holdfast.jobs')).toEqual(Array(3).fill(claimedTwice))
  await holdfast.close()
  await pool.end()
})

test('a worker survives the loss of all its connections, and every effect is there once', async () => {
  const inTransaction = gate()
  const mayGoOn = gate()
  let waiting = 0
  const write = defineJob({
    type: 'write',
    retry: { attempts: 10, base: 0, max: 0 },
    run: (n: number, ctx) =>
      ctx.tx(async (tx) => {
        await tx.query('insert into public.effects values ($1)', [n])
        if (n < 4 && ctx.job.attempts === 1) {
          if (++waiting === 4) inTransaction.open()
          await mayGoOn.opened
        }
        await ctx.complete(tx, n)
      }),
  })
  const worker = bench.open({ jobs: [write], concurrency: 6, maxConnections: 8 })
  const producer = bench.open({ jobs: [write], database: bench.database.pool })
  const inputs = Array.from({ length: 40 }, (_, n) => n)
  await worker.start()
  const handles = await producer.enqueueMany(write, inputs)
  await inTransaction.opened

  const killed = await bench.look(
    `select pg_terminate_backend(a.pid) as killed
       from pg_stat_activity as a
      where a.datname = current_database()
        and a.application_name = 'holdfast'`,
  )
  mayGoOn.open()

  expect(killed.length).toBeGreaterThanOrEqual(4)
  expect(killed.every((row) => row.killed)).toBe(true)
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(inputs)
  expect(await effects()).toEqual(inputs.map((n) => ({ n })))
})

test('20,000 jobs go through one worker, each once', async () => {
  const runs = new Map<number, number>()
  const note = defineJob({ type: 'note', run: (n: number) => void runs.set(n, (runs.get(n) ?? 0) + 1) })
  const holdfast = bench.open({ jobs: [note], concurrency: 50 })
  await holdfast.enqueueMany(
    note,
    Array.from({ length: 20_000 }, (_, n) => n),
  )
  const done = heardTimes(holdfast, 'job.completed', 20_000)

  await holdfast.start()
  await done
  await holdfast.stop()

  expect(runs.size).toBe(20_000)
  expect([...runs.values()].every((times) => times === 1)).toBe(true)
  expect(
    await bench.look(`
      select count(*)::integer as completed, max(attempts)::integer as attempts,
             (select count(*)::integer from holdfast.ready) + (select count(*)::integer from holdfast.lease) as living
        from holdfast.outcome where state = 'completed'`),
  ).toEqual([{ completed: 20_000, attempts: 1, living: 0 }])
})
