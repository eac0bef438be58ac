// fleet: the same drain by four worker processes.
import { drainInside, drainOnce } from '../draining.mjs'

export const measures = { fleet: { unit: 'jobs/s', better: 'higher', says: 'no-op jobs drained by four processes' } }

export const systems = [
  'holdfast',
  'graphile-worker (local queue 500)',
  'graphile-worker (local queue 2000)',
  'pg-boss (work)',
  'bullmq (Redis)',
]
export const quickSystems = ['holdfast']

export async function measure(bench, system) {
  const { rate } = await drainOnce(bench, system, { part: 'fleet', jobs: bench.drained, processes: 4 })
  return { fleet: rate }
}

export const inside = drainInside
