// standing: the fleet's jobs, for workers that are up already, as those of a service are when work comes: four processes, and one.
// What each process takes to start, which the other drains measure too, says nothing of how they work side by side.
import { drainInside, drainOnce } from '../draining.mjs'
import { holdfast } from '../systems/holdfast.mjs'

export const measures = {
  standing: { unit: 'jobs/s', better: 'higher', says: 'no-op jobs drained by four processes that are up' },
}

const PROCESSES = 4
const ALONE = 'holdfast, one process'
export const systems = ['holdfast', ALONE]
export const own = { [ALONE]: { ...holdfast, name: ALONE } }

export async function measure(bench, { name }) {
  const processes = name === ALONE ? 1 : PROCESSES
  const options = { part: 'standing', jobs: PROCESSES * bench.drained, processes, isStanding: true }
  const { rate } = await drainOnce(bench, holdfast, options)
  return { standing: rate }
}

export const inside = drainInside
