// Do all living workers run the same version of Holdfast?

import { workerDetails } from '../../store/reads/workers.js'
import type { Check } from '../check.js'
import { ok, warn } from '../finding.js'

/** A worker heartbeats every second; one that has not for so long is gone or going. */
export const LIVING_MS = 10_000

export const workerVersions: Check = {
  name: 'worker versions',
  needs: 'schema',
  async examine({ store }) {
    const living = (await workerDetails(store)).filter(({ heartbeatAgeMs }) => heartbeatAgeMs < LIVING_MS)
    const counts = new Map<string, number>()
    for (const { version } of living) counts.set(version, (counts.get(version) ?? 0) + 1)
    const versions = [...counts].map(([version, workers]) => `${version} on ${workers}`).join(', ')
    if (counts.size > 1) {
      return [
        warn(
          `workers run different versions: ${versions}`,
          'fine during a deploy; afterwards restart those left behind',
        ),
      ]
    }
    return [ok(living.length === 0 ? 'no worker is running' : `workers run ${versions}`)]
  },
}
