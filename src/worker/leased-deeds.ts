// What a run may do to its job while it runs, each presenting the lease.

import type { Store } from '../store/open.js'
import { assertLease, completeJob, reportProgress } from '../store/settle.js'
import type { LeasedDeeds } from './run-context.js'

export function leasedDeeds(store: Store): LeasedDeeds {
  return {
    progress: (job, share, message) => reportProgress(store, job, share, message),
    tx: async (job, work) => {
      const database = await store.open()
      return database.transaction(async (tx) => {
        await assertLease(store, job, tx)
        return work(tx)
      })
    },
    complete: (job, tx, output) => completeJob(store, job, output, tx),
  }
}
