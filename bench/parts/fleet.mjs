// fleet: the drain by four worker processes, of four times as many jobs, as many for each process as elsewhere for one: what a
// process takes to start and to warm up says nothing of how they work side by side. Holdfast's also by one process, in the same
// rounds: of all these jobs, over which its start and warm-up are spread four times as thin, and of a process's share.
import { drainInside, drainOnce } from '../draining.mjs'
import { holdfast } from '../systems/holdfast.mjs'

export const measures = { fleet: { unit: 'jobs/s', better: 'higher', says: 'no-op jobs drained by four processes' } }

const PROCESSES = 4
const ALONE = 'holdfast, one process'
const SHARE = 'holdfast, one process, its share'
export const systems = [
  'holdfast',
  ALONE,
  SHARE,
  'graphile-worker (local queue 500)',
  'graphile-worker (local queue 2000)',
  'pg-boss (work)',
  'bullmq (Redis)',
]
export const own = { [ALONE]: { ...holdfast, name: ALONE }, [SHARE]: { ...holdfast, name: SHARE } }
export const quickSystems = ['holdfast', ALONE]

export async function measure(bench, system) {
  const isAlone = system.name in own
  const jobs = system.name === SHARE ? bench.drained : PROCESSES * bench.drained
  const options = { part: 'fleet', jobs, processes: isAlone ? 1 : PROCESSES }
  const { rate } = await drainOnce(bench, isAlone ? holdfast : system, options)
  return { fleet: rate }
}

export const inside = drainInside
