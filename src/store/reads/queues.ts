// Queues, workers, keys, what is alive, and who did what by hand.

import type { JobId } from '../../domain/job/job.js'
import type {
  AuditEntry,
  CappedCount,
  KeyView,
  LiveCounts,
  Page,
  QueueView,
  WorkerView,
} from '../../domain/operate/operator-views.js'
import { call } from '../connection/call.js'
import type { Row } from '../connection/connection.js'
import type { Store } from '../store.js'

// SQL counts one further, to know that there is more.
const CAP = 10_000

export async function listQueues(store: Store, after: string, limit: number): Promise<Page<QueueView>> {
  const rows = await call(store, { invocation: 'list_queues_v1($1, $2)' }, [after, limit])
  return pageBy(rows, limit, 'name', (row) => ({
    name: row.name as string,
    pausedAt: row.paused_at as Date | null,
    pausedBy: row.paused_by as string | null,
    pending: capped(row.pending),
    due: capped(row.due),
    parked: capped(row.parked),
    waiting: capped(row.waiting),
    running: capped(row.running),
    oldestDueAt: row.oldest_due_at as Date | null,
    liveWorkers: row.live_workers as number,
  }))
}

export async function listWorkers(store: Store, after: string, limit: number): Promise<Page<WorkerView>> {
  const rows = await call(store, { invocation: 'list_workers_v1($1, $2)' }, [after, limit])
  return pageBy(rows, limit, 'id', (row) => ({
    id: row.id as string,
    pod: row.pod as string,
    pid: row.pid as number,
    version: row.version as string,
    queues: row.queues as string[],
    types: row.types as string[],
    concurrency: row.concurrency as number,
    startedAt: row.started_at as Date,
    heartbeatAt: row.heartbeat_at as Date,
    heartbeatAgeMs: Math.max(0, Math.round(row.heartbeat_age_ms as number)),
    rssBytes: row.rss_bytes === null ? null : Number(row.rss_bytes),
    running: { count: row.running as number, isCapped: row.is_capped as boolean },
    jobs: (row.jobs as unknown[]).map(String),
  }))
}

export async function findKey(store: Store, key: string): Promise<KeyView | undefined> {
  const [row] = await call(store, { invocation: 'find_key_v1($1)' }, [key])
  return (
    row && {
      key,
      holder: row.holder === null ? null : String(row.holder),
      current: row.current_job === null ? null : String(row.current_job),
      currentSince: row.current_since as Date | null,
      pending: capped(row.pending),
    }
  )
}

export async function liveCounts(store: Store): Promise<LiveCounts> {
  const [row = {}] = await call(store, { invocation: 'live_counts_v1()' }, [])
  return {
    pending: capped(row.pending),
    waiting: capped(row.waiting),
    running: capped(row.running),
    workers: row.workers as number,
  }
}

export interface AuditWish {
  readonly jobId?: JobId | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly after?: string | undefined
}

export async function listAudit(store: Store, wish: AuditWish, limit: number): Promise<Page<AuditEntry>> {
  const values = [wish.jobId ?? null, wish.actor ?? null, wish.action ?? null, wish.after ?? null, limit]
  const rows = await call(store, { invocation: 'list_audit_v1($1, $2, $3, $4, $5)' }, values)
  const next = rows[0]?.next ?? null
  return {
    rows: rows.filter((row) => row.id !== null).map(toAuditEntry),
    next: next === null ? null : String(next),
  }
}

function toAuditEntry(row: Row): AuditEntry {
  return {
    id: String(row.id),
    at: row.at as Date,
    actor: row.actor as string,
    action: row.action as string,
    jobId: row.job_id === null ? null : String(row.job_id),
    details: row.details as Record<string, unknown>,
  }
}

/** A page whose rows are in order of a column; a full one is taken to have a successor. */
export function pageBy<T>(rows: readonly Row[], limit: number, column: string, toRow: (row: Row) => T): Page<T> {
  const last = rows.at(-1)
  return { rows: rows.map(toRow), next: last && rows.length === limit ? String(last[column]) : null }
}

function capped(value: unknown): CappedCount {
  const count = Number(value)
  return { count: Math.min(count, CAP), isCapped: count > CAP }
}
