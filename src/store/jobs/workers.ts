// What a worker reports to the database: what it serves, its heartbeat and load, when it sleeps.

import type { JobDefinition } from '../../domain/job/definition.js'
import type { WorkerDescription } from '../../domain/operate/worker-views.js'
import { type Callee, call, callOne } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import type { Store } from '../store.js'

export async function registerWorker(store: Callee, worker: WorkerDescription, session?: Queryable): Promise<void> {
  const { id, pod, pid, version, queues, types, concurrency } = worker
  const values = [id, pod, pid, version, queues, types, concurrency]
  await call(store, { invocation: 'register_worker_v1($1, $2, $3, $4, $5, $6, $7)' }, values, session)
}

export async function deregisterWorker(store: Callee, id: string): Promise<void> {
  await call(store, { invocation: 'deregister_worker_v1($1)' }, [id])
}

export interface Heartbeat {
  readonly rssBytes: number
  /** The load of the process, which not every heartbeat reports. */
  readonly load: WorkerLoad | undefined
}

export interface WorkerLoad {
  /** The process runs jobs and nothing else. */
  readonly isAlone: boolean
  readonly loopDelayMs: number
}

export interface HeartbeatAnswer {
  /** false when the worker's row is gone and it must register again. */
  readonly isKnown: boolean
  /** Time until some worker may be dead; 0 or less when one may be dead now. */
  readonly silenceInMs: number | undefined
}

const HEARTBEAT = {
  invocation: 'record_heartbeat_v1($1, $2)',
  columns: 'c as known, holdfast.next_heartbeat_timeout_v1() as silence_ms',
}
const HEARTBEAT_WITH_LOAD = {
  ...HEARTBEAT,
  columns: `${HEARTBEAT.columns}, holdfast.report_load_v1($1, $3, $4, $5::text::timestamptz) as load`,
}

/** Records a heartbeat, with the load also the worker's clock, and learns when some worker may be dead. One statement. */
export async function recordHeartbeat(
  store: Callee,
  id: string,
  { rssBytes, load }: Heartbeat,
  session?: Queryable,
): Promise<HeartbeatAnswer> {
  const values = [id, rssBytes]
  const row = load
    ? await callOne(
        store,
        HEARTBEAT_WITH_LOAD,
        [...values, load.isAlone, load.loopDelayMs, new Date().toISOString()],
        session,
      )
    : await callOne(store, HEARTBEAT, values, session)
  return { isKnown: row.boolean('known'), silenceInMs: row.numberOrNull('silence_ms') ?? undefined }
}

/** Other workers notice a death by the session's advisory lock. false when an earlier session of this worker still has it. */
export async function takeWorkerLock(store: Callee, id: string, session: Queryable): Promise<boolean> {
  const row = await callOne(store, { invocation: 'take_worker_lock_v1($1)', value: 'held' }, [id], session)
  return row.boolean('held')
}

/** Milliseconds until the next job of these queues is due; undefined when there is none. */
export async function sleepWorker(
  store: Store,
  id: string,
  queues: readonly string[],
  sleepMs: number | null,
): Promise<number | undefined> {
  const invocation = 'sleep_worker_v1($1, $2, $3)'
  const row = await callOne(store, { invocation, value: 'due_ms' }, [id, queues, sleepMs])
  return row.numberOrNull('due_ms') ?? undefined
}

/** Stores the definitions of code; returns the types whose stored settings an operator has changed. */
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
  const rows = await call(store, { invocation, columns: 'c as type' }, [JSON.stringify(members)])
  return rows.map((row) => row.text('type'))
}
