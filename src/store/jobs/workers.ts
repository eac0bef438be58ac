// What a worker tells the database of itself: what it serves, that it lives and how it fares, when it sleeps.

import type { JobDefinition } from '../../domain/job/definition.js'
import { type Callee, call } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import type { Store } from '../store.js'
import { toMs } from './rows.js'

export interface WorkerRow {
  readonly id: string
  readonly pod: string
  readonly pid: number
  readonly version: string
  readonly queues: readonly string[]
  readonly types: readonly string[]
  readonly concurrency: number
}

export async function registerWorker(store: Callee, worker: WorkerRow, session?: Queryable): Promise<void> {
  const { id, pod, pid, version, queues, types, concurrency } = worker
  const values = [id, pod, pid, version, queues, types, concurrency]
  await call(store, { invocation: 'register_worker_v1($1, $2, $3, $4, $5, $6, $7)' }, values, session)
}

export async function deregisterWorker(store: Callee, id: string): Promise<void> {
  await call(store, { invocation: 'deregister_worker_v1($1)' }, [id])
}

export interface Heartbeat {
  readonly rssBytes: number
  /** How the process fares, told now and then. */
  readonly load: WorkerLoad | undefined
}

export interface WorkerLoad {
  /** Its process does nothing but work. */
  readonly isAlone: boolean
  readonly loopDelayMs: number
}

export interface HeartbeatAnswer {
  /** false when the row is gone and the worker must register again. */
  readonly isKnown: boolean
  /** Until some worker may be dead; 0 or less when one may be now. */
  readonly silenceInMs: number | undefined
}

const BEAT = {
  invocation: 'record_heartbeat_v1($1, $2)',
  columns: 'c as known, holdfast.next_heartbeat_timeout_v1() as silence_ms',
}
const BEAT_WITH_LOAD = {
  ...BEAT,
  columns: `${BEAT.columns}, holdfast.report_load_v1($1, $3, $4, $5::text::timestamptz) as load`,
}

/** Says that the worker lives, and with its load also what time its clock shows; hears who does not. All in one statement. */
export async function recordHeartbeat(
  store: Callee,
  id: string,
  { rssBytes, load }: Heartbeat,
  session?: Queryable,
): Promise<HeartbeatAnswer> {
  const [row] = load
    ? await call(
        store,
        BEAT_WITH_LOAD,
        [id, rssBytes, load.isAlone, load.loopDelayMs, new Date().toISOString()],
        session,
      )
    : await call(store, BEAT, [id, rssBytes], session)
  return { isKnown: row?.known === true, silenceInMs: toMs(row?.silence_ms) }
}

/** The session's advisory lock tells others when this worker dies; false when an earlier session of it still has it. */
export async function takeWorkerLock(store: Callee, id: string, session: Queryable): Promise<boolean> {
  const [row] = await call(store, { invocation: 'take_worker_lock_v1($1)', value: 'held' }, [id], session)
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
  const [row] = await call(store, { invocation, value: 'due_ms' }, [id, queues, sleepMs])
  return toMs(row?.due_ms)
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
