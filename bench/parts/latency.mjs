// latency: from the call of enqueue to the start of the handler, in a system that had nothing to do; with pauses between the
// samples. Once in the process that enqueues, as services do that work beside their requests, and once in another process.
// Beside it the time of one committed INSERT into a bare table, which no queue on PostgreSQL can heartbeat.
import { now, pause, until } from '../clock.mjs'
import { quantile } from '../report.mjs'

export const measures = {
  'latency-p50': {
    unit: 'ms',
    better: 'lower',
    says: 'from enqueue to the start of the handler in the same process, median',
  },
  'latency-p99': { unit: 'ms', better: 'lower', says: 'the same, 99th percentile' },
  'latency-other-p50': { unit: 'ms', better: 'lower', says: 'from enqueue to the start in another process, median' },
  'latency-other-p99': { unit: 'ms', better: 'lower', says: 'the same, 99th percentile' },
}

export const mostRuns = 3
// Short turns: what else the machine has to do changes within seconds, and is then spread over all systems.
export const turnsPerRun = 2
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

const WARM_UP = 10

export async function measure(bench, system) {
  const own = await sample(bench, system, 1)
  const other = system.name === 'bare insert' ? own : await sample(bench, system, 2)
  return {
    'latency-p50': quantile(own, 0.5),
    'latency-p99': quantile(own, 0.99),
    'latency-other-p50': quantile(other, 0.5),
    'latency-other-p99': quantile(other, 0.99),
  }
}

async function sample(bench, system, processes) {
  const store = await bench.stores.fresh(system.store)
  const samples = bench.size(150, 15)
  const start = (roles) => bench.start('latency', system, { roles, samples }, store.url)
  const all = processes === 1 ? [start('worker and sender')] : [start('sender'), start('worker')]
  for (const each of all) await each.hear('ready')
  const [sender, worker] = [all[0], all.at(-1)]
  sender.say('send')
  const { waits } = await worker.hear('measured')
  for (const each of all) each.say('end')
  await Promise.all(all.map((each) => each.ended()))
  await store.close()
  return waits
}

export async function inside({ system, line, params }) {
  const n = params.samples + WARM_UP
  const waits = []
  const begun = ({ sentAt }) => void waits.push(now() - sentAt)
  await system.prepare()
  if (params.roles.includes('worker')) await system.work?.(async (input) => begun(input))
  await pause(500)
  line.tell('ready')
  if (params.roles.includes('sender')) await send()
  if (params.roles.includes('worker')) {
    await until(() => waits.length >= n, 5)
    line.tell('measured', { waits: waits.slice(WARM_UP) })
  }
  await line.order()

  async function send() {
    await line.order()
    for (let i = 0; i < n; i += 1) {
      await pause(20 + 60 * Math.random())
      const sentAt = now()
      await system.enqueue({ sentAt })
      // Without a worker it is over when it is stored.
      if (!system.work) begun({ sentAt })
    }
  }
}
