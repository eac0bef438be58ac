// drain: no-op jobs that wait in the queue, one worker process; every handler run and every outcome written down.
import { drainInside, drainOnce } from '../draining.mjs'

export const measures = {
  drain: { unit: 'jobs/s', better: 'higher', says: 'no-op jobs drained by one process' },
  'drain-cpu': { unit: 'µs', better: 'lower', says: 'CPU time per job of the worker and its store together' },
}

export const systems = [
  'holdfast',
  'graphile-worker',
  'graphile-worker (local queue 500)',
  'graphile-worker (local queue 2000)',
  'pg-boss (fetch 100, in turn)',
  'pg-boss (fetch 100)',
  'pg-boss (fetch 1000)',
  'pg-boss (work)',
  'bullmq (Redis)',
  'bullmq (PostgreSQL)',
]
export const quickSystems = ['holdfast', 'graphile-worker (local queue 500)', 'pg-boss (fetch 1000)']

export async function measure(bench, system) {
  const { rate, cpuPerJob } = await drainOnce(bench, system, { part: 'drain', jobs: bench.drained })
  return { drain: rate, 'drain-cpu': cpuPerJob }
}

export const inside = drainInside
