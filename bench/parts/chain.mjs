// chain: from the start of one handler to the start of the next, in one process. Where a system has no chains of its own the
// handler enqueues the next job; Holdfast is measured so too, and with pipelines. Beside it the time of one committed INSERT.
import { now, until } from '../clock.mjs'
import { median } from '../report.mjs'
import { holdfast } from '../systems/holdfast.mjs'

export const measures = { chain: { unit: 'ms', better: 'lower', says: 'from step to step of a chain, median' } }

export const mostRuns = 3
const PIPELINES = { 'holdfast (pipeline)': 'chain', 'holdfast (pipeline, results passed on)': 'results' }
export const own = Object.fromEntries(Object.keys(PIPELINES).map((name) => [name, { ...holdfast, name }]))
export const systems = [
  'holdfast',
  ...Object.keys(PIPELINES),
  'graphile-worker',
  'graphile-worker (local queue 500)',
  'pg-boss (work)',
  'bullmq (Redis)',
  'bullmq (PostgreSQL)',
  'bare insert',
]
export const quickSystems = ['holdfast', ...Object.keys(PIPELINES), 'graphile-worker', 'bare insert']

const WARM_UP = 20

export async function measure(bench, system) {
  const store = await bench.stores.fresh(system.store)
  const pipeline = PIPELINES[system.name]
  const named = pipeline ? { ...system, name: 'holdfast' } : system
  const only = bench.start('chain', named, { steps: bench.size(300, 50), pipeline }, store.url)
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
    if (n < last && !params.pipeline) await system.enqueue({ n: n + 1 })
  }
  if (system.work) {
    await system.work(step)
    if (params.pipeline) await system.enqueuePipeline(params.pipeline, { last })
    else await system.enqueue({ n: 0 })
    await until(() => startedAt.length > last, 5)
  } else {
    for (let n = 0; n <= last; n += 1) await step({ n })
  }
  const steps = startedAt.slice(1).map((at, i) => at - startedAt[i])
  line.tell('measured', { step: median(steps.slice(WARM_UP)) })
}
