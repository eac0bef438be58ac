// latency: from the call of enqueue in one process to the start of the handler in another that had nothing to do; with pauses
// between the samples. Beside it the time of one committed INSERT into a bare table, which no queue on PostgreSQL can beat.
import { now, pause, until } from '../clock.mjs'
import { quantile } from '../report.mjs'

export const measures = {
  'latency-p50': { unit: 'ms', better: 'lower', says: 'from enqueue to the start of the handler, median' },
  'latency-p99': { unit: 'ms', better: 'lower', says: 'from enqueue to the start of the handler, 99th percentile' },
}

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
  const samples = bench.size(300, 30)
  const sender = bench.start('latency', system, { role: 'sender', samples }, store.url)
  await sender.hear('prepared')
  const hasWorker = system.name !== 'bare insert'
  const worker = hasWorker ? bench.start('latency', system, { role: 'worker', samples }, store.url) : sender
  if (hasWorker) await worker.hear('ready')
  sender.say('send')
  const { all } = await worker.hear('measured')
  if (hasWorker) worker.say('end')
  await Promise.all([worker.ended(), sender.ended()])
  await store.close()
  return { 'latency-p50': quantile(all, 0.5), 'latency-p99': quantile(all, 0.99) }
}

export async function inside({ system, line, params }) {
  const n = params.samples + WARM_UP
  if (params.role === 'sender') return send(system, line, n)
  await system.prepare()
  const all = []
  await system.work(async ({ sentAt }) => {
    all.push(now() - sentAt)
  })
  await pause(500)
  line.tell('ready')
  await until(() => all.length >= n, 5)
  line.tell('measured', { all: all.slice(WARM_UP) })
  await line.order()
}

async function send(system, line, n) {
  await system.prepare()
  line.tell('prepared')
  await line.order()
  const all = []
  for (let i = 0; i < n; i += 1) {
    await pause(20 + 60 * Math.random())
    const sentAt = now()
    await system.enqueue({ sentAt })
    all.push(now() - sentAt)
  }
  line.tell('measured', { all: all.slice(WARM_UP) })
}
