// mixed: handlers of 1 ms in 4 queues and 3 priorities; 10 % of the jobs share 100 keys, of which no two may run at once; 5 %
// fail at their first attempt and are retried after about two seconds. Counted until every job has been run once.
import { now, pause, until } from '../clock.mjs'

export const measures = {
  mixed: { unit: 'jobs/s', better: 'higher', says: '1 ms handlers, 4 queues, 3 priorities, keys and retries' },
}

export const systems = ['holdfast', 'graphile-worker (local queue 500)']

const WARM_UP = 1000
const KEYS = 100

export async function measure(bench, system) {
  const store = await bench.stores.fresh(system.store)
  const only = bench.start('mixed', system, { jobs: bench.size(30_000, 3000) }, store.url)
  await only.hear('filled')
  await store.settleDown()
  bench.disturbance.begin()
  only.say('go')
  const { rate } = await only.hear('measured')
  bench.disturbance.end()
  await only.ended()
  await store.close()
  return { mixed: rate }
}

export async function inside({ system, line, params }) {
  await system.prepare()
  await warmUp(system)
  const jobs = Array.from({ length: params.jobs }, (_, id) => plan(id))
  for (let i = 0; i < jobs.length; i += 1000) await system.enqueueMixed(jobs.slice(i, i + 1000))
  line.tell('filled')
  await line.order()

  let firstRuns = 0
  let overlaps = 0
  const running = new Set()
  const startedAt = now()
  await system.workMixed(async ({ key, isFlaky }, attempt) => {
    if (running.has(key)) overlaps += 1
    if (key) running.add(key)
    await pause(1)
    if (key) running.delete(key)
    if (attempt === 1) firstRuns += 1
    if (isFlaky && attempt === 1) throw new Error('the first attempt fails')
  })
  await until(() => firstRuns === params.jobs)
  if (overlaps > 0) throw new Error(`${overlaps} jobs ran beside another of their key`)
  line.tell('measured', { rate: (params.jobs / (now() - startedAt)) * 1000 })
}

function plan(id) {
  return {
    id,
    queue: id % 4,
    priority: Math.floor(id / 4) % 3,
    isFlaky: id % 20 === 7,
    ...(id % 10 === 3 && { key: `key-${Math.floor(id / 10) % KEYS}` }),
  }
}

async function warmUp(system) {
  let handled = 0
  await system.enqueueMany(Array.from({ length: WARM_UP }, (_, id) => ({ id })))
  const worker = await system.work(async () => {
    handled += 1
  })
  await until(() => handled === WARM_UP)
  await worker.stop()
}
