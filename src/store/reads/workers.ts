// Workers, due work that no worker will run, and how fast the recent work went.

import type { Page } from '../../domain/operate/page.js'
import type { WorkerView } from '../../domain/operate/worker-views.js'
import { call, callOne } from '../connection/call.js'
import { pageBy } from '../rows/page.js'
import type { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'

export async function listWorkers(store: Store, after: string, limit: number): Promise<Page<WorkerView>> {
  const rows = await call(store, { invocation: 'list_workers_v1($1, $2)' }, [after, limit])
  return pageBy(rows, limit, (row) => row.text('id'), toWorkerView)
}

export interface WorkerDetails extends WorkerView {
  readonly hasLock: boolean
  /** Its process runs jobs and nothing else; false inside a service. */
  readonly isAlone: boolean
  readonly loopDelayMs: number | null
  /** Its clock minus the database's. */
  readonly clockOffsetMs: number | null
}

export async function workerDetails(store: Store): Promise<WorkerDetails[]> {
  return (await call(store, { invocation: `list_workers_v1('', 1000)` }, [])).map((row) => ({
    ...toWorkerView(row),
    hasLock: row.boolean('has_lock'),
    isAlone: row.boolean('is_alone'),
    loopDelayMs: row.numberOrNull('loop_delay_ms'),
    clockOffsetMs: row.numberOrNull('clock_offset_ms'),
  }))
}

function toWorkerView(row: RowReader): WorkerView {
  return {
    id: row.text('id'),
    pod: row.text('pod'),
    pid: row.number('pid'),
    version: row.text('version'),
    queues: row.texts('queues'),
    types: row.texts('types'),
    concurrency: row.number('concurrency'),
    startedAt: row.moment('started_at'),
    heartbeatAt: row.moment('heartbeat_at'),
    heartbeatAgeMs: Math.max(0, Math.round(row.number('heartbeat_age_ms'))),
    rssBytes: row.numberOrNull('rss_bytes'),
    running: { count: row.number('running'), isCapped: row.boolean('is_capped') },
    jobs: row.ids('jobs'),
  }
}

const UNSERVED_REASONS = ['paused', 'no_worker', 'no_handler'] as const

export interface UnservedWork {
  readonly queue: string
  readonly type: string
  readonly reason: (typeof UNSERVED_REASONS)[number]
  /** At least this many. */
  readonly jobs: number
  readonly oldestRunAt: Date
}

/** Work that has been due for longer than `dueForMs`, and that no worker will run. */
export async function unservedWork(store: Store, dueForMs: number): Promise<UnservedWork[]> {
  const invocation = 'unserved_work_v1(make_interval(secs => $1::double precision / 1000))'
  return (await call(store, { invocation }, [dueForMs])).map((row) => ({
    queue: row.text('queue'),
    type: row.text('type'),
    reason: row.oneOf('reason', UNSERVED_REASONS),
    jobs: row.number('jobs'),
    oldestRunAt: row.moment('oldest_run_at'),
  }))
}

export interface RecentWork {
  readonly jobs: number
  readonly isCapped: boolean
  /** From due to claimed; null when no job was claimed. */
  readonly waitP95Ms: number | null
  /** The same of jobs that belong to a pipeline. */
  readonly chainWaitP95Ms: number | null
}

export async function recentWork(store: Store, windowMs: number): Promise<RecentWork> {
  const invocation = 'recent_work_v1(make_interval(secs => $1::double precision / 1000))'
  const row = await callOne(store, { invocation }, [windowMs])
  return {
    jobs: row.number('jobs'),
    isCapped: row.boolean('is_capped'),
    waitP95Ms: row.numberOrNull('wait_p95_ms'),
    chainWaitP95Ms: row.numberOrNull('chain_wait_p95_ms'),
  }
}
