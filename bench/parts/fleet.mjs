// fleet: the drain by four worker processes; Holdfast's also by one, in the same rounds. Of four times as many jobs, as many for
// each process as elsewhere for one: what a process takes to start and to warm up says nothing of how they work side by side.
import { drainInside, drainOnce } from '../draining.mjs'
import { holdfast } from '../systems/holdfast.mjs'

export const measures = { fleet: { unit: 'jobs/s', better: 'higher', says: 'no-op jobs drained by four processes' } }

const PROCESSES = 4
const ALONE = 'holdfast, one process'
export const systems = [
  'holdfast',
  ALONE,
  'graphile-worker (local queue 500)',
  'graphile-worker (local queue 2000)',
  'pg-boss (work)',
  'bullmq (Redis)',
]
export const own = { [ALONE]: { ...holdfast, name: ALONE } }
export const quickSystems = ['holdfast', ALONE]

export async function measure(bench, system) {
  const isAlone = system.name === ALONE
  const options = { part: 'fleet', jobs: PROCESSES * bench.drained, processes: isAlone ? 1 : PROCESSES }
  const { rate } = await drainOnce(bench, isAlone ? holdfast : system, options)
  return { fleet: rate }
}

export const inside = drainInside
