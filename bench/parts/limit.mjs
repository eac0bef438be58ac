// limit: the same drain by Holdfast's SQL functions alone, in a bare loop without the library: the ceiling of one process.
import { drainInside, drainOnce } from '../draining.mjs'

export const measures = {
  limit: { unit: 'jobs/s', better: 'higher', says: 'the library against a bare loop over the same SQL functions' },
  'limit-cpu': { unit: 'µs', better: 'lower', says: 'CPU time per job of the worker and its store together' },
}

export const systems = ['holdfast', 'holdfast functions']

export async function measure(bench, system) {
  const { rate, cpuPerJob } = await drainOnce(bench, system, { part: 'limit', jobs: bench.drained })
  return { limit: rate, 'limit-cpu': cpuPerJob }
}

export const inside = drainInside
