// What is there now: the workers, the work that nobody does, and how fast it goes.

import { call } from '../connection/call.js'
import type { Store } from '../store.js'

export interface WorkerDetails {
  readonly id: string
  readonly pod: string
  readonly pid: number
  readonly version: string
  readonly queues: readonly string[]
  readonly types: readonly string[]
  readonly concurrency: number
  readonly startedAt: Date
  /** Since its last heartbeat. */
  readonly silentMs: number
  readonly hasLock: boolean
  readonly rssBytes: number | null
  /** Its process does nothing but work; false inside a service. */
  readonly isAlone: boolean
  readonly loopDelayMs: number | null
  /** Its clock minus the database's. */
  readonly clockOffsetMs: number | null
}

export async function workerDetails(store: Store): Promise<WorkerDetails[]> {
  return (await call(store, { invocation: `list_workers_v1('', 1000)` }, [])).map((row) => ({
    id: String(row.id),
    pod: String(row.pod),
    pid: Number(row.pid),
    version: String(row.version),
    queues: row.queues as string[],
    types: row.types as string[],
    concurrency: Number(row.concurrency),
    startedAt: row.started_at as Date,
    silentMs: Math.round(Number(row.heartbeat_age_ms)),
    hasLock: row.has_lock === true,
    rssBytes: orNull(row.rss_bytes),
    isAlone: row.is_alone === true,
    loopDelayMs: orNull(row.loop_delay_ms),
    clockOffsetMs: orNull(row.clock_offset_ms),
  }))
}

export interface UnservedWork {
  readonly queue: string
  readonly type: string
  readonly reason: 'paused' | 'no_worker' | 'no_handler'
  /** At least so many. */
  readonly jobs: number
  readonly oldestRunAt: Date
}

/** Due for longer than `dueForMs`, and nobody will run it. */
export async function unservedWork(store: Store, dueForMs: number): Promise<UnservedWork[]> {
  const invocation = 'unserved_work_v1(make_interval(secs => $1::double precision / 1000))'
  return (await call(store, { invocation }, [dueForMs])).map((row) => ({
    queue: String(row.queue),
    type: String(row.type),
    reason: row.reason as UnservedWork['reason'],
    jobs: Number(row.jobs),
    oldestRunAt: row.oldest_run_at as Date,
  }))
}

export interface RecentWork {
  readonly jobs: number
  readonly isCapped: boolean
  /** From due to claimed; null when nothing was. */
  readonly waitP95Ms: number | null
  /** The same of jobs that belong to a pipeline. */
  readonly chainWaitP95Ms: number | null
}

export async function recentWork(store: Store, windowMs: number): Promise<RecentWork> {
  const invocation = 'recent_work_v1(make_interval(secs => $1::double precision / 1000))'
  const [row] = await call(store, { invocation }, [windowMs])
  return {
    jobs: Number(row?.jobs ?? 0),
    isCapped: row?.is_capped === true,
    waitP95Ms: orNull(row?.wait_p95_ms),
    chainWaitP95Ms: orNull(row?.chain_wait_p95_ms),
  }
}

function orNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}
