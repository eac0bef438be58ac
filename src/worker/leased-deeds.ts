// What a run may do to its job while it runs, each presenting the lease.

import { backoffMs } from '../domain/backoff.js'
import type { ClaimedJob } from '../domain/job.js'
import type { Store } from '../store/open.js'
import { chainJobs } from '../store/pipelines.js'
import { assertLease, completeJob, reportProgress } from '../store/settle.js'
import { lookForEvent, readSteps, rememberStep } from '../store/steps.js'
import { isPassing } from '../store/translate-error.js'
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
    complete: async (job, tx, output, next) => {
      if (next !== undefined) await chainJobs(store, job, next, tx)
      await completeJob(store, job, output, tx)
    },
    readSteps: (job) => readSteps(store, job.id),
    rememberStep: (...step) => rememberSurely(store, ...step),
    lookForEvent: (job, name, event) => lookForEvent(store, job, name, event),
  }
}

const RETRY = { baseMs: 50, maxMs: 2000 }

/** The step has been done: only the loss of the lease may keep it from being remembered. */
async function rememberSurely(store: Store, job: ClaimedJob, name: string, output: string, isOver: () => boolean) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rememberStep(store, job, name, output)
    } catch (error) {
      if (isOver() || !isPassing(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, backoffMs(RETRY, tries, Math.random())))
    }
  }
}
