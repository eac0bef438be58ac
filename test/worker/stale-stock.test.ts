// Jobs that a worker has claimed ahead, when all its slots are taken by runs that last.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const SLOTS = 2
const QUICK = 300

test('what waits behind long runs of a busy worker is run by another that has nothing to do', async () => {
  const quickRuns: number[] = []
  let letGo = () => {}
  const gone = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let holding = 0
  const quick = defineJob({ type: 'quick', queue: 'mixed', run: (n: number) => void quickRuns.push(n) })
  const long = defineJob({
    type: 'long',
    queue: 'mixed',
    run: async (_: number) => {
      holding += 1
      await gone
    },
  })
  const open = () => bench.open({ jobs: [quick, long], queues: ['mixed'], concurrency: SLOTS })
  const [busy, idle] = [open(), open()]
  const numbers = (from: number) => Array.from({ length: QUICK }, (_, i) => from + i)
  await busy.enqueueMany(quick, numbers(0))
  await busy.enqueueMany(long, numbers(0).slice(0, SLOTS))
  await busy.enqueueMany(quick, numbers(QUICK))
  const held = async () => (await bench.look('select from holdfast.lease')).length

  await busy.start()
  await until(async () => holding === SLOTS)
  expect(await held()).toBeGreaterThan(SLOTS + 10) // the long ones, and what was claimed behind them
  await idle.start()
  await until(async () => quickRuns.length === 2 * QUICK)

  expect(holding).toBe(SLOTS)
  expect(new Set(quickRuns).size).toBe(2 * QUICK)
  const attempts = await bench.look(`
    select distinct o.attempts from holdfast.outcome as o join holdfast.job as j on j.id = o.job_id where j.type = 'quick'`)
  expect(attempts).toEqual([{ attempts: 1 }])
  letGo()
  await until(async () => (await held()) === 0)
})
