// Reaps jobs whose lease has expired by the test's clock.

import { reapLeases } from '../store/jobs/maintenance.js'
import type { Store } from '../store/store.js'

const MOST = 100
// Without heartbeats, only an expired lease shows that its holder is gone.
const NOBODY_IS_SILENT_MS = 315_360_000_000

export async function reapAbandoned(store: Store): Promise<void> {
  await reapLeases(store, MOST, NOBODY_IS_SILENT_MS)
}
