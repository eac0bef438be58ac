// Pipelines without help: no notification, no direct handoff, lost answers, stops at the wrong moment.
import { afterEach, expect, test } from 'vitest'
import { defineJob, definePipeline, type HoldfastOptions, type JobDefinition } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { useHoldfast } from '../support/holdfast.js'
import { type LossyPool, lossyPool } from '../support/lossy-pool.js'

const bench = useHoldfast()
let lossy: LossyPool | undefined
afterEach(async () => {
  await bench.closeAll()
  await lossy?.pool.end()
  lossy = undefined
})

const add = defineJob({ type: 'add', lease: '3s', run: ({ n }: { n: number }) => n + 1 })
const five = definePipeline({
  name: 'five',
  build(p, n: number) {
    let last = p.job(add, { n }, { name: 'add 1' })
    for (let i = 2; i <= 5; i += 1) last = p.job(add, { last }, (r) => ({ n: r.last }), { name: `add ${i}` })
    return last
  },
})

const open = (options: Partial<HoldfastOptions<readonly JobDefinition[]>>) =>
  bench.open({ jobs: [add], pipelines: [five], ...options })

test('without direct handoff and notifications the poller alone completes every pipeline', async () => {
  const producer = open({})
  const handles = await Promise.all([1, 2, 3].map((n) => producer.enqueuePipeline(five, n)))
  await open({ directHandoff: false, listen: false, poll: '20ms' }).start()

  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([6, 7, 8])
})

test('with direct handoff a chain needs one claim and one completion per step, and no question for results', async () => {
  lossy = lossyPool(bench.database.url)
  const holdfast = open({ database: lossy.pool, poll: '1h' })
  await holdfast.start()
  const handle = await holdfast.enqueuePipeline(five, 0)

  expect(await handle.result()).toBe(5)

  expect(lossy.timesSent('complete_step_v1')).toBe(5)
  expect(lossy.timesSent('step_results_v1')).toBe(0)
  expect(await bench.look('select max(attempts)::int as most from holdfast.jobs')).toEqual([{ most: 1 }])
})

test('results that are too large for the handoff are read separately', async () => {
  lossy = lossyPool(bench.database.url)
  const write = defineJob({ type: 'write', run: (letters: number) => 'x'.repeat(letters) })
  const count = defineJob({ type: 'count', run: ({ text }: { text: string }) => text.length })
  const two = definePipeline({
    name: 'two',
    build: (p, letters: number) => p.job(count, { text: p.job(write, letters) }, (r) => ({ text: r.text })),
  })
  const holdfast = bench.open({ database: lossy.pool, jobs: [write, count], pipelines: [two] })
  await holdfast.start()

  expect(await (await holdfast.enqueuePipeline(two, 100)).result()).toBe(100)
  expect(lossy.timesSent('step_results_v1')).toBe(0)
  expect(await (await holdfast.enqueuePipeline(two, 100_000)).result()).toBe(100_000)
  expect(lossy.timesSent('step_results_v1')).toBe(1)
})

test('when the answer to a completion is lost, the step that was claimed with it runs again', async () => {
  lossy = lossyPool(bench.database.url)
  const holdfast = open({ database: lossy.pool })
  await holdfast.start()
  const lost = lossy.loseAnswerTo('complete_step_v1')

  const handle = await holdfast.enqueuePipeline(five, 0)

  await lost
  expect(await handle.result()).toBe(5)
  expect(await bench.look(`select count(*)::int as n from holdfast.attempt where verdict = 'lost'`)).toEqual([{ n: 1 }])
})

test('a step that is claimed for a worker that is just stopping is released', async () => {
  const begun = gate()
  const mayEnd = gate()
  const slow = defineJob({
    type: 'slow',
    run: async () => {
      begun.open()
      await mayEnd.opened
    },
  })
  const two = definePipeline({
    name: 'two',
    build: (p, n: number) => p.job(add, { n }, { after: [p.job(slow, null)] }),
  })
  const first = bench.open({ jobs: [slow, add], pipelines: [two], grace: '10s' })
  await first.start()
  const handle = await first.enqueuePipeline(two, 1)
  await begun.opened

  const stopped = first.stop()
  mayEnd.open()
  await stopped
  expect((await handle.progress()).pending).toBe(1)
  await bench.open({ jobs: [slow, add], pipelines: [two] }).start()

  expect(await handle.result()).toBe(2)
})
