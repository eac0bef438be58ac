// From enqueue to completed: by definition and by name, one and many, with the options of a job.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const double = defineJob({ type: 'double', run: ({ n }: { n: number }) => ({ twice: n * 2 }) })

test('an enqueued job completes with its output', async () => {
  const holdfast = bench.open({ jobs: [double] })
  await holdfast.start()

  const handle = await holdfast.enqueue(double, { n: 21 })

  expect(await handle.result()).toEqual({ twice: 42 })
  expect(await handle.read()).toMatchObject({
    id: handle.id,
    type: 'double',
    queue: 'default',
    priority: 5,
    state: 'completed',
    input: { n: 21 },
    output: { twice: 42 },
    error: null,
    attempts: 1,
    maxAttempts: 3,
  })
})

test('a job can be enqueued by the name of its type', async () => {
  const holdfast = bench.open({ jobs: [double] })
  await holdfast.start()

  const handle = await holdfast.enqueue('double', { n: 4 })

  expect(handle.type).toBe('double')
  expect(await handle.result()).toEqual({ twice: 8 })
})

test('a contract is enqueued where no handler is and run where one is', async () => {
  const producer = bench.open({ jobs: [defineJob({ type: 'double' })] })
  const worker = bench.open({ jobs: [double] })
  await worker.start()

  const handle = await producer.enqueue('double', { n: 5 })

  expect(await handle.result()).toEqual({ twice: 10 })
})

test('a handler that returns nothing completes with null', async () => {
  const quiet = defineJob({ type: 'quiet', run: () => {} })
  const holdfast = bench.open({ jobs: [quiet] })
  await holdfast.start()

  const handle = await holdfast.enqueue(quiet, undefined)

  expect(await handle.result()).toBeNull()
  expect((await handle.read()).input).toEqual({})
})

test('the handles of many jobs come in the order of their inputs', async () => {
  const holdfast = bench.open({ jobs: [double] })
  await holdfast.start()

  const handles = await holdfast.enqueueMany(
    double,
    [5, 3, 9, 1].map((n) => ({ n })),
  )

  const outputs = await Promise.all(handles.map((handle) => handle.result()))
  expect(outputs).toEqual([5, 3, 9, 1].map((n) => ({ twice: n * 2 })))
})

test('enqueueing no inputs makes no job', async () => {
  const holdfast = bench.open({ jobs: [double] })

  expect(await holdfast.enqueueMany('double', [])).toEqual([])
  expect(await bench.look('select id from holdfast.job')).toEqual([])
})

test('one bad input among many stores none of them', async () => {
  const holdfast = bench.open({ jobs: [double] })

  const enqueued = holdfast.enqueueMany(double, [{ n: 1 }, { n: Number.NaN }, { n: 3 }])

  await expect(enqueued).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect(await bench.look('select id from holdfast.job')).toEqual([])
})

test('a hundred thousand jobs are stored in one call, in order', async () => {
  const holdfast = bench.open({ jobs: [double] })
  const count = bench.database.engine === 'pglite' ? 5000 : 100_000

  const handles = await holdfast.enqueueMany(
    double,
    Array.from({ length: count }, (_, n) => ({ n })),
  )

  expect(new Set(handles.map((handle) => handle.id)).size).toBe(count)
  const [stored] = await bench.look(
    `select count(*)::integer as jobs, count(r.job_id)::integer as pending,
            bool_and((j.input ->> 'n')::integer = w.place - 1) as in_order
       from unnest($1::bigint[]) with ordinality as w(id, place)
       join holdfast.job as j on j.id = w.id
       left join holdfast.ready as r on r.job_id = j.id`,
    [handles.map((handle) => handle.id)],
  )
  expect(stored).toEqual({ jobs: count, pending: count, in_order: true })
})

test('the options of an enqueue are what the job has', async () => {
  const holdfast = bench.open({ jobs: [double] })
  const runAt = new Date('2090-03-04T05:06:07.089Z')

  const handle = await holdfast.enqueue(
    double,
    { n: 1 },
    {
      queue: 'bulk',
      priority: 2,
      runAt,
      maxAttempts: 7,
      pipelineId: '0b0e1c9e-7a44-4f4e-9a63-0e9d8a4f3c11',
      tags: ['import', 'Zürich'],
      dedupeId: 'order-17',
      key: { year: 2026, module: 1 },
    },
  )

  expect(await handle.read()).toMatchObject({
    state: 'pending',
    queue: 'bulk',
    priority: 2,
    runAt,
    maxAttempts: 7,
    pipelineId: '0b0e1c9e-7a44-4f4e-9a63-0e9d8a4f3c11',
    tags: ['import', 'Zürich'],
    dedupeId: 'order-17',
    key: '{"module":1,"year":2026}',
    keyPolicy: 'exclusive',
  })
})

test('the settings of a definition are what its jobs have', async () => {
  const careful = defineJob({ type: 'careful', queue: 'slow', priority: 8, retry: { attempts: 9 }, run: () => {} })
  const holdfast = bench.open({ jobs: [careful] })

  const handle = await holdfast.enqueue(careful, {})

  expect(await handle.read()).toMatchObject({ queue: 'slow', priority: 8, maxAttempts: 9 })
})

test('a repeated dedupe id gives the job that the first one made', async () => {
  const holdfast = bench.open({ jobs: [double] })

  const first = await holdfast.enqueue(double, { n: 1 }, { dedupeId: 'once' })
  const again = await holdfast.enqueue(double, { n: 2 }, { dedupeId: 'once' })
  const other = await holdfast.enqueue(double, { n: 3 }, { dedupeId: 'twice' })

  expect(again.id).toBe(first.id)
  expect(other.id).not.toBe(first.id)
  expect((await again.read()).input).toEqual({ n: 1 })
})

test('for many jobs the dedupe id and the key are functions of the input', async () => {
  const holdfast = bench.open({ jobs: [double] })

  const handles = await holdfast.enqueueMany(double, [{ n: 1 }, { n: 2 }, { n: 1 }], {
    dedupeId: ({ n }) => `n-${n}`,
    key: ({ n }, index) => ({ n, index }),
  })

  expect(handles[2]?.id).toBe(handles[0]?.id)
  expect((await handles[1]?.read())?.key).toBe('{"index":1,"n":2}')
})

test('enqueueing tells which jobs were made', async () => {
  const holdfast = bench.open({ jobs: [double] })
  const told = heard(holdfast, 'job.enqueued')

  const handles = await holdfast.enqueueMany(double, [{ n: 1 }, { n: 2 }])

  expect(await told).toEqual({
    ids: handles.map((handle) => handle.id),
    type: 'double',
    queue: 'default',
    isClaimed: false,
  })
})

test('two Holdfasts share one database and its jobs', async () => {
  const one = bench.open({ jobs: [double] })
  const two = bench.open({ jobs: [double] })
  await Promise.all([one.start(), two.start()])

  const handles = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two).enqueue(double, { n })),
  )

  const outputs = await Promise.all(handles.map((handle) => handle.result()))
  expect(outputs.map((output) => output.twice)).toEqual(handles.map((_, n) => n * 2))
})
