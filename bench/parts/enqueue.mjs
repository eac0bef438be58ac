// enqueue: one by one, in bulk, and one by one by 16 clients at once; no worker is running.
import { now } from '../clock.mjs'

export const measures = {
  'enqueue-one': { unit: 'jobs/s', better: 'higher', says: 'enqueued one by one, each committed' },
  'enqueue-bulk': { unit: 'jobs/s', better: 'higher', says: 'enqueued by thousands' },
  'enqueue-16': { unit: 'jobs/s', better: 'higher', says: 'enqueued one by one by 16 clients at once' },
}

export const systems = [
  'holdfast',
  'graphile-worker',
  'pg-boss (fetch 100)',
  'bullmq (Redis)',
  'bullmq (PostgreSQL)',
  'bare insert',
]
export const quickSystems = ['holdfast', 'graphile-worker', 'pg-boss (fetch 100)', 'bare insert']

const BULK = 1000
const CLIENTS = 16

export async function measure(bench, system) {
  const store = await bench.stores.fresh(system.store)
  const params = {
    one: bench.size(2000, 200),
    bulk: Math.max(BULK, bench.size(50_000, 5000) * (system.peer === 'bullmq' ? 0.2 : 1)),
    sixteen: bench.size(8000, 800),
  }
  const only = bench.start('enqueue', system, params, store.url)
  const { fact: _, ...values } = await only.hear('measured')
  await only.ended()
  await store.close()
  return values
}

export async function inside({ system, line, params }) {
  await system.prepare()
  await oneByOne(system, CLIENTS, 320)
  await bulk(system, 2 * BULK)
  const one = await perSecond(params.one, () => oneByOne(system, 1, params.one))
  const many = await perSecond(params.bulk, () => bulk(system, params.bulk))
  const sixteen = await perSecond(params.sixteen, () => oneByOne(system, CLIENTS, params.sixteen))
  line.tell('measured', { 'enqueue-one': one, 'enqueue-bulk': many, 'enqueue-16': sixteen })
}

async function perSecond(n, act) {
  const startedAt = now()
  await act()
  return (n / (now() - startedAt)) * 1000
}

async function oneByOne(system, clients, n) {
  const client = async () => {
    for (let i = 0; i < n / clients; i += 1) await system.enqueue({ id: i })
  }
  await Promise.all(Array.from({ length: clients }, client))
}

async function bulk(system, n) {
  for (let i = 0; i < n; i += BULK) await system.enqueueMany(Array.from({ length: BULK }, (_, k) => ({ id: i + k })))
}
