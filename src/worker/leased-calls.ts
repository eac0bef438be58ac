// What a run may do to its job while it runs. Each write presents the lease.

import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import type { ClaimedJob } from '../domain/job/job.js'
import { backoffMs } from '../domain/run/backoff.js'
import type { BeginTransaction } from '../domain/run/context.js'
import type { FoundEvent, StoredStep } from '../domain/run/durable-step.js'
import { isPassing } from '../store/connection/translate-error.js'
import { pollEvent, readSteps, storeStep } from '../store/jobs/durable-steps.js'
import { chainJobs } from '../store/jobs/pipelines.js'
import { assertLease, completeJob, reportProgress } from '../store/jobs/settle.js'
import type { Store } from '../store/store.js'
import { asQueryable } from '../store/transaction.js'

export interface DurableStepCalls {
  readSteps(job: ClaimedJob): Promise<StoredStep[]>
  /** Repeats a write that failed until it succeeds or `isOver` returns true. */
  rememberStep(job: ClaimedJob, name: string, output: string, isOver: () => boolean): Promise<void>
  pollEvent(job: ClaimedJob, name: string, event: string): Promise<FoundEvent | undefined>
}

export interface LeasedCalls extends DurableStepCalls {
  progress(job: ClaimedJob, share: number, message: string | null): Promise<boolean>
  tx<T>(job: ClaimedJob, work: (tx: unknown) => Promise<T>): Promise<T>
  /** `next` is the JSON array of jobs to follow. */
  complete(job: ClaimedJob, tx: unknown, output: string, next: string | undefined): Promise<void>
}

/** `begin` is the application's own way to a transaction; without it the store's connections are used. */
export function leasedCalls(store: Store, ownBegin?: BeginTransaction): LeasedCalls {
  const begin = ownBegin === undefined ? storeTransaction(store) : refusingAborted(ownBegin)
  return {
    progress: (job, share, message) => reportProgress(store, job, share, message),
    tx: (job, work) => inTransaction(store, begin, job, work),
    complete: async (job, tx, output, next) => {
      const session = asQueryable(tx)
      if (next !== undefined) await chainJobs(store, job, next, session)
      await completeJob(store, job, output, session)
    },
    readSteps: (job) => readSteps(store, job.id),
    rememberStep: (...step) => rememberWithRetries(store, ...step),
    pollEvent: (job, name, event) => pollEvent(store, job, name, event),
  }
}

async function inTransaction<T>(
  store: Store,
  begin: BeginTransaction,
  job: ClaimedJob,
  work: (tx: unknown) => Promise<T>,
): Promise<T> {
  let done: { result: T } | undefined
  // The result does not pass through `begin`: some libraries change what a transaction returns.
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

/** The library's commit would not tell that PostgreSQL rolled back: asks before it. */
function refusingAborted(begin: BeginTransaction): BeginTransaction {
  if (typeof begin !== 'function') {
    throw invalidOption('transaction', 'a function like (work) => db.transaction(work)', begin)
  }
  return (work) =>
    begin(async (tx) => {
      await work(tx)
      await asQueryable(tx)
        .query('select 1')
        .catch((error) => {
          if (error?.code === ABORTED) throw new HoldfastError('TRANSACTION_ROLLED_BACK', undefined, { cause: error })
        })
    })
}

/** PostgreSQL's code for a statement in a transaction that an error has ended. */
const ABORTED = '25P02'

function storeTransaction(store: Store): BeginTransaction {
  return async (work) => (await store.open()).transaction(work)
}

const RETRY = { baseMs: 50, maxMs: 2000 }

/** The step has run: only the loss of the lease may keep its output from being stored. */
async function rememberWithRetries(store: Store, job: ClaimedJob, name: string, output: string, isOver: () => boolean) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await storeStep(store, job, name, output)
    } catch (error) {
      if (isOver() || !isPassing(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, backoffMs(RETRY, tries, Math.random())))
    }
  }
}
