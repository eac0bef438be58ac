// What a worker tells the database of itself: what it serves, that it lives, when it sleeps.

import type { JobDefinition } from '../domain/definition.js'
import { call } from './call.js'
import type { Queryable } from './connection.js'
import type { Store } from './open.js'

export interface WorkerRow {
  readonly id: string
  readonly pod: string
  readonly pid: number
  readonly version: string
  readonly queues: readonly string[]
  readonly types: readonly string[]
  readonly concurrency: number
}

export async function registerWorker(store: Store, worker: WorkerRow, session?: Queryable): Promise<void> {
  const { id, pod, pid, version, queues, types, concurrency } = worker
  const values = [id, pod, pid, version, queues, types, concurrency]
  await call(store, { invocation: 'register_worker_v1($1, $2, $3, $4, $5, $6, $7)' }, values, session)
}

export async function deregisterWorker(store: Store, id: string): Promise<void> {
  await call(store, { invocation: 'deregister_worker_v1($1)' }, [id])
}

/** false when the row is gone and the worker must register again. */
export async function beatWorker(store: Store, id: string, rssBytes: number, session?: Queryable): Promise<boolean> {
  const values = [id, rssBytes]
  const beat = { invocation: 'beat_worker_v1($1, $2)', columns: 'c as known' }
  const [row] = await call(store, beat, values, session)
  return row?.known === true
}

export interface WorkerLoad {
  /** Its process does nothing but work. */
  readonly isAlone: boolean
  readonly loopDelayMs: number
}

/** Says how the process fares, and what time its clock shows. */
export async function reportLoad(store: Store, id: string, { isAlone, loopDelayMs }: WorkerLoad): Promise<void> {
  const values = [id, isAlone, loopDelayMs, new Date().toISOString()]
  await call(store, { invocation: 'report_load_v1($1, $2, $3, $4::text::timestamptz)' }, values)
}

/** The session's advisory lock tells others when this worker dies; false when an earlier session of it still has it. */
export async function holdWorkerLock(store: Store, id: string, session: Queryable): Promise<boolean> {
  const [row] = await call(store, { invocation: 'hold_worker_lock_v1($1)', columns: 'c as held' }, [id], session)
  return row?.held === true
}

/** Milliseconds until the next job falls due in these queues, undefined when none will. */
export async function sleepWorker(
  store: Store,
  id: string,
  queues: readonly string[],
  sleepMs: number | null,
): Promise<number | undefined> {
  const invocation = 'sleep_worker_v1($1, $2, $3)'
  const [row] = await call(store, { invocation, columns: 'c as due_ms' }, [id, queues, sleepMs])
  return row?.due_ms === null || row === undefined ? undefined : Number(row.due_ms)
}

/** Writes the definitions of code down; gives the types whose stored row an operator has pinned to something else. */
export async function putJobTypes(store: Store, definitions: readonly JobDefinition[]): Promise<string[]> {
  const members = definitions.map(({ type, queue, priority, maxAttempts, leaseMs, backoff }) => ({
    type,
    queue,
    priority,
    max_attempts: maxAttempts,
    lease_seconds: Math.max(1, Math.ceil(leaseMs / 1000)),
    backoff_base_ms: backoff.baseMs,
    backoff_max_ms: backoff.maxMs,
  }))
  const invocation = 'put_job_types_v1($1::text::jsonb)'
  return (await call(store, { invocation, columns: 'c as type' }, [JSON.stringify(members)])).map((row) =>
    String(row.type),
  )
}
