// fanout: one pipeline from one step to ten thousand side by side and back to one that gets all their results, in one process.
import { now } from '../clock.mjs'

export const measures = {
  'fanout-enqueue': { unit: 'ms', better: 'lower', says: 'enqueue of the whole graph, committed' },
  'fanout-time': { unit: 'ms', better: 'lower', says: 'from the start of the first step to the start of the last' },
  fanout: { unit: 'jobs/s', better: 'higher', says: 'steps of the fan-out, run and written down' },
}

export const mostRuns = 3
export const systems = ['holdfast']

export async function measure(bench, system) {
  const store = await bench.stores.fresh(system.store)
  const width = bench.size(10_000, 1000)
  const only = bench.start('fanout', system, { width }, store.url)
  const { enqueueMs, fanMs } = await only.hear('measured')
  await only.ended()
  await store.close()
  return { 'fanout-enqueue': enqueueMs, 'fanout-time': fanMs, fanout: (width / fanMs) * 1000 }
}

export async function inside({ system, line, params }) {
  await system.prepare()
  let startedAt = 0
  let endedAt = 0
  let handled = 0
  await system.work(async ({ at, width }) => {
    if (at === 'out') startedAt = now()
    else if (at === 'in') endedAt = now()
    else handled += 1
    if (at === 'in' && width !== handled) throw new Error(`the last step saw ${width} results of ${handled} steps`)
  })
  // The same once before, small, as every part warms up.
  await (await system.enqueuePipeline('fan', { width: 100 })).result()
  handled = 0
  const askedAt = now()
  const handle = await system.enqueuePipeline('fan', { width: params.width })
  const enqueueMs = now() - askedAt
  await handle.result()
  line.tell('measured', { enqueueMs, fanMs: endedAt - startedAt })
}
