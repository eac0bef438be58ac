// What a run may do to its job while it runs, each presenting the lease.

import type { BeginTransaction } from '../domain/context.js'
import { HoldfastError } from '../domain/errors.js'
import type { ClaimedJob } from '../domain/job.js'
import type { Store } from '../store/open.js'
import { assertLease, completeJob, reportProgress } from '../store/settle.js'
import { asQueryable } from '../store/transaction.js'
import type { LeasedDeeds } from './run-context.js'

/** `begin` is the application's own way to a transaction; without it the store's connections are used. */
export function leasedDeeds(store: Store, begin: BeginTransaction = ownTransaction(store)): LeasedDeeds {
  return {
    progress: (job, share, message) => reportProgress(store, job, share, message),
    tx: (job, work) => inTransaction(store, begin, job, work),
    complete: async (job, tx, output) => completeJob(store, job, output, asQueryable(tx)),
  }
}

async function inTransaction<T>(
  store: Store,
  begin: BeginTransaction,
  job: ClaimedJob,
  work: (tx: unknown) => Promise<T>,
): Promise<T> {
  let done: { result: T } | undefined
  // Kept here and not handed through the library: some of them change what a transaction returns.
  await begin(async (tx) => {
    await assertLease(store, job, asQueryable(tx))
    done = { result: await work(tx) }
  })
  if (done) return done.result
  throw new HoldfastError(
    'INVALID_OPTION',
    'the option transaction must call the work that it is given, and wait for it',
  )
}

function ownTransaction(store: Store): BeginTransaction {
  return async (work) => (await store.open()).transaction(work)
}
