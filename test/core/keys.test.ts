// Keys: what must not run twice at once, by each of the three policies.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { aborted, gate } from '../support/gate.js'
import { heard, heardTimes, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

test('two jobs of one exclusive key never overlap, whatever runs beside them', async () => {
  const running = new Map<string, number>()
  const overlaps: string[] = []
  const turns = new Map<string, number[]>()
  const load = defineJob({
    type: 'load',
    key: ({ file }: { file: string; n: number }) => ({ file }),
    async run({ file, n }, { progress }) {
      running.set(file, (running.get(file) ?? 0) + 1)
      if (running.get(file) !== 1) overlaps.push(`${file} ${n}`)
      turns.set(file, [...(turns.get(file) ?? []), n])
      await progress(0.5)
      running.set(file, (running.get(file) ?? 0) - 1)
    },
  })
  const one = bench.open({ jobs: [load], concurrency: 10 })
  const two = bench.open({ jobs: [load], concurrency: 10 })
  const inputs = Array.from({ length: 30 }, (_, n) => ({ file: `file-${n % 3}`, n }))
  const handles = await one.enqueueMany(load, inputs)

  await Promise.all([one.start(), two.start()])
  await Promise.all(handles.map((handle) => handle.result()))

  expect(overlaps).toEqual([])
  expect([...turns.values()].map((turn) => turn.length)).toEqual([10, 10, 10])
})

test('a job whose exclusive key is held stays pending without an error until the key is free', async () => {
  const mayEnd = gate()
  const held = defineJob({ type: 'held', key: () => 'the only one', run: () => mayEnd.opened })
  const holdfast = bench.open({ jobs: [held] })
  await holdfast.start()
  const claimed = heard(holdfast, 'job.claimed')
  const first = await holdfast.enqueue(held, {})
  await claimed
  const second = await holdfast.enqueue(held, {})

  expect(await holdfast.runJob(second.id)).toBe(false)
  expect(await second.read()).toMatchObject({ state: 'pending', attempts: 0, error: null })
  expect((await holdfast.current('the only one'))?.id).toBe(first.id)
  mayEnd.open()

  await second.result()
  expect((await first.read()).state).toBe('completed')
  expect((await holdfast.current('the only one'))?.id).toBe(second.id)
})

test('a failed holder frees its key for the next', async () => {
  const picky = defineJob({
    type: 'picky',
    key: () => 'k',
    retry: { attempts: 1 },
    run(name: string) {
      if (name === 'bad') throw new Error('no')
      return name
    },
  })
  const holdfast = bench.open({ jobs: [picky] })
  const bad = await holdfast.enqueue(picky, 'bad')
  const good = await holdfast.enqueue(picky, 'good')

  await holdfast.start()

  expect(await good.result()).toBe('good')
  await expect(bad.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
})

test('the newer job of a supersede key takes over and the running one is told SUPERSEDED', async () => {
  const reason = gate<{ code?: unknown }>()
  const latest = defineJob({
    type: 'latest',
    key: ({ doc }: { doc: string; version: number }) => ({ doc }),
    keyPolicy: 'supersede',
    async run({ version }, { signal }) {
      if (version === 2) return 'version 2'
      reason.open(await aborted(signal))
      throw signal.reason
    },
  })
  const holdfast = bench.open({ jobs: [latest] })
  await holdfast.start()
  const claimed = heard(holdfast, 'job.claimed')
  const older = await holdfast.enqueue(latest, { doc: 'a', version: 1 })
  await claimed
  const lost = heard(holdfast, 'job.lost', ({ id }) => id === older.id)

  const newer = await holdfast.enqueue(latest, { doc: 'a', version: 2 })

  expect(await newer.result()).toBe('version 2')
  expect((await reason.opened).code).toBe('SUPERSEDED')
  await lost
  expect(await older.read()).toMatchObject({ state: 'superseded', output: null, isCurrent: false })
  expect(await newer.read()).toMatchObject({ state: 'completed', isCurrent: true })
})

test('a superseded run that returns an output all the same does not change the outcome', async () => {
  const mayReturn = gate()
  const latest = defineJob({
    type: 'latest',
    key: () => 'k',
    keyPolicy: 'supersede',
    run: (version: number) => (version === 1 ? mayReturn.opened.then(() => 'stale') : 'fresh'),
  })
  const holdfast = bench.open({ jobs: [latest] })
  await holdfast.start()
  const claimed = heard(holdfast, 'job.claimed')
  const older = await holdfast.enqueue(latest, 1)
  await claimed
  const newer = await holdfast.enqueue(latest, 2)
  await newer.result()
  const lost = heard(holdfast, 'job.lost')

  mayReturn.open()

  expect(await lost).toMatchObject({ id: older.id, code: 'LEASE_LOST' })
  expect(await older.read()).toMatchObject({ state: 'superseded', output: null })
  expect(await newer.result()).toBe('fresh')
})

test('enqueues of a coalescing key become one pending job with the last input', async () => {
  const rebuild = defineJob({ type: 'rebuild', key: () => 'index', keyPolicy: 'coalesce', run: (n: number) => n })
  const holdfast = bench.open({ jobs: [rebuild] })

  const handles = [
    await holdfast.enqueue(rebuild, 1),
    await holdfast.enqueue(rebuild, 2),
    await holdfast.enqueue(rebuild, 3),
  ]
  await holdfast.start()

  expect(new Set(handles.map(({ id }) => id)).size).toBe(1)
  expect(await handles[0]?.result()).toBe(3)
})

test('with coalesce keep the pending job keeps its input', async () => {
  const rebuild = defineJob({ type: 'rebuild', key: () => 'index', keyPolicy: 'coalesce', coalesce: 'keep' })
  const holdfast = bench.open({ jobs: [rebuild] })

  const first = await holdfast.enqueue(rebuild, 1)
  const second = await holdfast.enqueue(rebuild, 2)

  expect(second.id).toBe(first.id)
  expect((await second.read()).input).toBe(1)
})

test('what is asked while a coalescing job runs is followed by exactly one more run', async () => {
  const started = gate()
  const mayEnd = gate()
  const inputs: number[] = []
  const rebuild = defineJob({
    type: 'rebuild',
    key: () => 'index',
    keyPolicy: 'coalesce',
    async run(n: number) {
      inputs.push(n)
      started.open()
      await mayEnd.opened
    },
  })
  const holdfast = bench.open({ jobs: [rebuild] })
  const done = heardTimes(holdfast, 'job.completed', 2)
  await holdfast.start()
  const first = await holdfast.enqueue(rebuild, 1)
  await started.opened
  const asked = [await holdfast.enqueue(rebuild, 2), await holdfast.enqueue(rebuild, 3)]

  mayEnd.open()
  await done

  expect(inputs).toEqual([1, 3])
  expect(asked.map(({ id }) => id)).toEqual([asked[0]?.id, asked[0]?.id])
  expect(asked[0]?.id).not.toBe(first.id)
  expect(await bench.look('select id from holdfast.job')).toHaveLength(2)
})

test('the order of a key’s properties does not matter', async () => {
  const holdfast = bench.open({ jobs: [defineJob({ type: 'job' })] })

  const one = await holdfast.enqueue('job', 1, { key: { a: 1, b: { c: 2, d: 3 } }, keyPolicy: 'coalesce' })
  const two = await holdfast.enqueue('job', 2, { key: { b: { d: 3, c: 2 }, a: 1 }, keyPolicy: 'coalesce' })

  expect(two.id).toBe(one.id)
})

test('history and current tell of started jobs only, newest first', async () => {
  const step = defineJob({ type: 'step', key: () => ({ year: 2026 }), run: () => {} })
  const holdfast = bench.open({ jobs: [step] })
  const handles = []
  for (let n = 0; n < 4; n += 1) handles.push(await holdfast.enqueue(step, {}))
  expect(await holdfast.current({ year: 2026 })).toBeUndefined()
  expect(await holdfast.history({ year: 2026 })).toEqual([])

  for (const handle of handles.slice(0, 3)) await holdfast.runJob(handle.id)

  expect((await holdfast.current({ year: 2026 }))?.id).toBe(handles[2]?.id)
  expect((await holdfast.history({ year: 2026 })).map(({ id }) => id)).toEqual(
    [handles[2], handles[1], handles[0]].map((handle) => handle?.id),
  )
  expect(await holdfast.history({ year: 2026 }, { limit: 1 })).toHaveLength(1)
  expect(await holdfast.history({ year: 1999 })).toEqual([])
})
