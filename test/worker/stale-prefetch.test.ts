// Prefetched jobs of a worker whose slots are all taken by long runs.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const SLOTS = 2
const QUICK = 300

test('jobs that wait behind the long runs of a busy worker are run by an idle one', async () => {
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
  let released = 0
  busy.on('job.released', () => {
    released += 1
  })

  await busy.start()
  await until(async () => holding === SLOTS)
  await idle.start()
  await until(async () => quickRuns.length === 2 * QUICK)

  expect(released).toBeGreaterThan(0) // the jobs that the busy worker had prefetched
  expect(holding).toBe(SLOTS)
  expect(new Set(quickRuns).size).toBe(2 * QUICK)
  const living = async () => (await bench.look('select from holdfast.lease')).length
  await until(async () => (await living()) === SLOTS)
  const attempts = await bench.look(`
    select distinct o.attempts from holdfast.outcome as o join holdfast.job as j on j.id = o.job_id where j.type = 'quick'`)
  expect(attempts).toEqual([{ attempts: 1 }])
  letGo()
  await until(async () => (await living()) === 0)
})
