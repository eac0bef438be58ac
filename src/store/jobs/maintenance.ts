// Maintenance: what is due, lost leases, partitions of outcomes, pruning, and parked jobs whose key is free.

import type { JobId } from '../../domain/job/job.js'
import { BULK_MS, call, callOne } from '../connection/call.js'
import type { Store } from '../store.js'

export async function makeOutcomePartitions(store: Store): Promise<number> {
  const statement = { invocation: 'make_outcome_partitions_v1()', value: 'made', answerMs: BULK_MS }
  return (await callOne(store, statement, [])).number('made')
}

/** Returns how many jobs were deleted; fewer than `limit` means that none is left to prune. */
export async function pruneJobs(store: Store, keepMs: number, limit: number): Promise<number> {
  const invocation = `prune_jobs_v1(make_interval(secs => $1::double precision / 1000), $2)`
  return (await callOne(store, { invocation, value: 'pruned', answerMs: BULK_MS }, [keepMs, limit])).number('pruned')
}

export async function offerParked(store: Store): Promise<number> {
  return (await callOne(store, { invocation: 'offer_parked_v1()', value: 'keys' }, [])).number('keys')
}

/** What this worker can do; `schedules` are the keys whose input its code computes. */
export interface MaintenanceScope {
  readonly queues: readonly string[]
  readonly types: readonly string[]
  readonly schedules: readonly string[]
}

/** Hints: each operation checks again. */
export interface DueMaintenance {
  /** Time until a lease may be lost; 0 or less when one may be lost now. */
  readonly lostInMs: number | undefined
  /** Time until a schedule needs a worker. */
  readonly scheduleInMs: number | undefined
  readonly hasBulk: boolean
  readonly hasStats: boolean
  readonly hasQuarantined: boolean
}

export async function dueMaintenance(
  store: Store,
  { queues, types, schedules }: MaintenanceScope,
): Promise<DueMaintenance> {
  const row = await callOne(store, { invocation: 'due_maintenance_v1($1, $2, $3)' }, [queues, types, schedules])
  return {
    lostInMs: row.numberOrNull('lost_in_ms') ?? undefined,
    scheduleInMs: row.numberOrNull('schedule_in_ms') ?? undefined,
    hasBulk: row.boolean('has_bulk'),
    hasStats: row.boolean('has_stats'),
    hasQuarantined: row.boolean('has_quarantined'),
  }
}

const REAPED_STATES = ['pending', 'failed'] as const

export interface Reaped {
  readonly id: JobId
  readonly state: (typeof REAPED_STATES)[number]
}

/** Takes jobs whose lease has expired, or whose worker has been silent for longer than `graceMs`. */
export async function reapLeases(store: Store, limit: number, graceMs: number): Promise<Reaped[]> {
  const invocation = `reap_leases_v1($1, make_interval(secs => $2::double precision / 1000))`
  const rows = await call(store, { invocation }, [limit, graceMs])
  return rows.map((row) => ({ id: row.id('job_id'), state: row.oneOf('state', REAPED_STATES) }))
}
