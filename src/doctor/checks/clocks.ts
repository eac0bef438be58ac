// Leases, due times and ticks go by the database's clock. A machine whose own clock differs reads its logs wrong and computes
// wrong moments for what it enqueues.

import { workerDetails } from '../../store/reads/workers.js'
import { databaseNow } from '../../store/schedules/schedules.js'
import type { Check } from '../check.js'
import { ok, warn } from '../finding.js'
import { LIVING_MS } from './worker-versions.js'

export const clocks: Check = {
  name: 'clocks',
  needs: 'schema',
  async examine({ store, limits }) {
    const askedAt = Date.now()
    const databaseMs = (await databaseNow(store)).getTime()
    // The server read its clock at an unknown moment of the round trip.
    const own = (askedAt + Date.now()) / 2 - databaseMs
    const living = (await workerDetails(store)).filter(({ heartbeatAgeMs }) => heartbeatAgeMs < LIVING_MS)
    const offsets = [
      { who: 'this machine', ms: own },
      ...living.flatMap(({ id, clockOffsetMs }) => (clockOffsetMs === null ? [] : [{ who: id, ms: clockOffsetMs }])),
    ]
    const apart = offsets.filter(({ ms }) => Math.abs(ms) > limits.clockMs)
    if (apart.length === 0) return [ok('the clocks of this machine and of the workers agree with the database’s')]
    return apart.map(({ who, ms }) => {
      const text = `the clock of ${who} is ${(Math.abs(ms) / 1000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'} the database’s`
      return warn(text, 'synchronise it (NTP); jobs are safe, but moments computed there are off by as much')
    })
  },
}
