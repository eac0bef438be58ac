// chain: a handler that enqueues the next job; the time from the start of one handler to the start of the next, in one process.
import { now, until } from '../clock.mjs'
import { median } from '../report.mjs'

export const measures = { chain: { unit: 'ms', better: 'lower', says: 'from step to step of a chain, median' } }

export const mostRuns = 3
export const systems = [
  'holdfast',
  'graphile-worker',
  'graphile-worker (local queue 500)',
  'pg-boss (work)',
  'bullmq (Redis)',
  'bullmq (PostgreSQL)',
  'bare insert',
]
export const quickSystems = ['holdfast', 'graphile-worker', 'bare insert']

const WARM_UP = 20

export async function measure(bench, system) {
  const store = await bench.stores.fresh(system.store)
  const only = bench.start('chain', system, { steps: bench.size(300, 50) }, store.url)
  const { step } = await only.hear('measured')
  await only.ended()
  await store.close()
  return { chain: step }
}

export async function inside({ system, line, params }) {
  await system.prepare()
  const last = params.steps + WARM_UP
  const startedAt = []
  const step = async ({ n }) => {
    startedAt.push(now())
    if (n < last) await system.enqueue({ n: n + 1 })
  }
  if (system.work) {
    await system.work(step)
    await system.enqueue({ n: 0 })
    await until(() => startedAt.length > last, 5)
  } else {
    for (let n = 0; n <= last; n += 1) await step({ n })
  }
  const steps = startedAt.slice(1).map((at, i) => at - startedAt[i])
  line.tell('measured', { step: median(steps.slice(WARM_UP)) })
}
