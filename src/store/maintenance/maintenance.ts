// The operations of maintenance: what is due, lost leases, days ahead, days gone, and parked jobs that nobody would offer.

import type { JobId } from '../../domain/job/job.js'
import { BULK_MS, call } from '../connection/call.js'
import { toMs } from '../jobs/rows.js'
import type { Store } from '../store.js'

export async function makeOutcomePartitions(store: Store): Promise<number> {
  const [row] = await call(store, { invocation: 'make_outcome_partitions_v1()', value: 'made', answerMs: BULK_MS }, [])
  return Number(row?.made)
}

/** How many jobs went; fewer than `limit` means that nothing is left to prune. */
export async function pruneJobs(store: Store, keepMs: number, limit: number): Promise<number> {
  const invocation = `prune_jobs_v1(make_interval(secs => $1::double precision / 1000), $2)`
  const [row] = await call(store, { invocation, value: 'pruned', answerMs: BULK_MS }, [keepMs, limit])
  return Number(row?.pruned)
}

export async function offerParked(store: Store): Promise<number> {
  const [row] = await call(store, { invocation: 'offer_parked_v1()', value: 'keys' }, [])
  return Number(row?.keys)
}

/** What a worker can do, of what is due: see WorkerRow; `schedules` are the keys whose input its code computes. */
export interface MaintenanceScope {
  readonly queues: readonly string[]
  readonly types: readonly string[]
  readonly schedules: readonly string[]
}

/** Hints: each operation looks for itself. */
export interface DueMaintenance {
  /** Until a lease may be lost; 0 or less when one may be now. */
  readonly lostInMs: number | undefined
  /** Until a schedule needs a worker. */
  readonly scheduleInMs: number | undefined
  readonly hasBulk: boolean
  readonly hasStats: boolean
  readonly hasQuarantined: boolean
}

export async function dueMaintenance(
  store: Store,
  { queues, types, schedules }: MaintenanceScope,
): Promise<DueMaintenance> {
  const [row] = await call(store, { invocation: 'due_maintenance_v1($1, $2, $3)' }, [queues, types, schedules])
  return {
    lostInMs: toMs(row?.lost_in_ms),
    scheduleInMs: toMs(row?.schedule_in_ms),
    hasBulk: row?.has_bulk === true,
    hasStats: row?.has_stats === true,
    hasQuarantined: row?.has_quarantined === true,
  }
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
