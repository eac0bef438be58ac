// The deeds of maintenance: lost leases, days ahead, days gone, and parked jobs that nobody would offer.

import type { JobId } from '../domain/job.js'
import { BULK_MS, call } from './call.js'
import type { Store } from './open.js'

export async function makeOutcomePartitions(store: Store): Promise<number> {
  const [row] = await call(
    store,
    { invocation: 'make_outcome_partitions_v1()', columns: 'c as made', answerMs: BULK_MS },
    [],
  )
  return Number(row?.made)
}

/** How many jobs went; fewer than `limit` means that nothing is left to prune. */
export async function pruneJobs(store: Store, keepMs: number, limit: number): Promise<number> {
  const invocation = `prune_jobs_v1(make_interval(secs => $1::double precision / 1000), $2)`
  const [row] = await call(store, { invocation, columns: 'c as pruned', answerMs: BULK_MS }, [keepMs, limit])
  return Number(row?.pruned)
}

export async function offerParked(store: Store): Promise<number> {
  const [row] = await call(store, { invocation: 'offer_parked_v1()', columns: 'c as keys' }, [])
  return Number(row?.keys)
}

export interface Reaped {
  readonly id: JobId
  readonly state: 'pending' | 'failed'
}

/** Takes jobs whose lease is over, or whose holder has been silent for longer than the grace. */
export async function reapLeases(store: Store, limit: number, graceMs: number): Promise<Reaped[]> {
  const invocation = `reap_leases_v1($1, make_interval(secs => $2::double precision / 1000))`
  const rows = await call(store, { invocation }, [limit, graceMs])
  return rows.map((row) => ({ id: String(row.job_id), state: row.state as Reaped['state'] }))
}
