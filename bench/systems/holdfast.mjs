// Holdfast through its library, as an application uses it: enqueue, enqueueMany, start. Finished jobs are kept.
// Settings: concurrency 24, as graphile-worker's own measurements have it; everything else is the default.
import pg from 'pg'

export const CONCURRENCY = 24
const MIXED_QUEUES = ['mixed-0', 'mixed-1', 'mixed-2', 'mixed-3']

export const holdfast = { name: 'holdfast', store: 'postgres', open }

async function open(url) {
  const { createHoldfast, defineJob, definePipeline } = await import('holdfast')
  let handler = async (_input) => {}
  const noop = defineJob({ type: 'noop', queue: 'bench', run: (input) => handler(input) })
  const mixed = defineJob({
    type: 'mixed',
    queue: MIXED_QUEUES[0],
    retry: { attempts: 3, base: '2s', max: '10s' },
    run: (input, ctx) => handler(input, ctx.job.attempts),
  })
  const pipelines = pipelinesOf({ definePipeline, noop })
  const make = (queues) =>
    createHoldfast({
      database: url,
      jobs: [noop, mixed],
      pipelines,
      maxConnections: 20,
      concurrency: CONCURRENCY,
      queues,
    })
  const main = make(['bench'])
  const eye = new pg.Pool({ connectionString: url, max: 1 })

  return {
    prepare: async () => void (await main.migrate()),
    enqueue: (input) => main.enqueue(noop, input),
    enqueueMany: (inputs) => main.enqueueMany(noop, inputs),
    async work(theHandler) {
      handler = theHandler
      await main.start()
      return { stop: () => main.stop() }
    },
    async isSettled() {
      const { rows } = await eye.query(`select from holdfast.lease where type in ('noop', 'mixed') limit 1`)
      return rows.length === 0
    },
    async countHistory() {
      const { rows } = await eye.query(`select count(*)::int as n from holdfast.outcome where state = 'completed'`)
      return rows[0].n
    },
    shutQueue: () => main.pause('bench'),
    openQueue: () => main.resume('bench'),
    ...mixedLoad(main, mixed),
    enqueuePipeline: (name, input) =>
      main.enqueuePipeline(
        pipelines.find((pipeline) => pipeline.name === name),
        input,
      ),
    async workMixed(theHandler) {
      handler = theHandler
      // The slots of all queues together are as many as elsewhere.
      await make(Object.fromEntries(MIXED_QUEUES.map((name) => [name, CONCURRENCY / MIXED_QUEUES.length]))).start()
    },
    holdKey: (key) => holdKey(url, key),
  }
}

/** chain: steps that come after each other; results: the same, each computed from the last; fan: out to many and in again. */
function pipelinesOf({ definePipeline, noop }) {
  const chain = definePipeline({
    name: 'chain',
    build(p, { last }) {
      let step = p.job(noop, { n: 0 }, { name: 'step 0' })
      for (let n = 1; n <= last; n += 1) step = p.job(noop, { n }, { name: `step ${n}`, after: [step] })
      return step
    },
  })
  const results = definePipeline({
    name: 'results',
    build(p, { last }) {
      let step = p.job(noop, { n: 0 }, { name: 'step 0' })
      for (let n = 1; n <= last; n += 1) step = p.job(noop, { step }, () => ({ n }), { name: `step ${n}` })
      return step
    },
  })
  const fan = definePipeline({
    name: 'fan',
    build(p, { width }) {
      const root = p.job(noop, { at: 'out' }, { name: 'out' })
      const items = Array.from({ length: width }, (_, n) => n)
      const all = p.map(items, noop, (n) => ({ n }), { name: 'item', after: [root] })
      return p.job(noop, { all }, (r) => ({ at: 'in', width: r.all.length }), { name: 'in' })
    },
  })
  return [chain, results, fan]
}

/** Jobs that differ in queue and priority go in one call each; the key is a function of the input. */
function mixedLoad(main, mixed) {
  return {
    async enqueueMixed(jobs) {
      const groups = new Map()
      for (const job of jobs) {
        const id = `${job.queue} ${job.priority}`
        groups.set(id, [...(groups.get(id) ?? []), job])
      }
      for (const [first, ...rest] of groups.values()) {
        const options = { queue: MIXED_QUEUES[first.queue], priority: 4 + first.priority, key: (input) => input.key }
        await main.enqueueMany(mixed, [first, ...rest], options)
      }
    },
  }
}

/** A job of its own queue that has the key and keeps it for as long as this process lives. */
async function holdKey(url, key) {
  const { createHoldfast, defineJob } = await import('holdfast')
  let hasBegun = () => {}
  const begun = new Promise((resolve) => {
    hasBegun = resolve
  })
  const hold = defineJob({
    type: 'hold',
    queue: 'hold',
    key: () => key,
    run: () => {
      hasBegun()
      return new Promise(() => {})
    },
  })
  const holder = createHoldfast({ database: url, jobs: [hold], maxConnections: 2 })
  await holder.enqueue(hold, {})
  await holder.start()
  await begun
}
