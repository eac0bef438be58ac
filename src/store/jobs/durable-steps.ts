// What handlers remember, and events.

import type { FoundEvent, StepKind, StoredStep } from '../../domain/job/durable-step.js'
import type { JobId } from '../../domain/job/job.js'
import { call } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import type { Store } from '../store.js'
import type { Lease } from './settle.js'

export async function readSteps(store: Store, id: JobId): Promise<StoredStep[]> {
  const rows = await call(store, READ, [id])
  return rows.map((row) => ({
    kind: row.kind as StepKind,
    name: row.name as string,
    output: row.output ?? null,
    isOver: row.is_over as boolean,
    isGivenUp: row.is_given_up as boolean,
    event: row.event as string | null,
    wakeAt: row.wake_at as Date | null,
    at: row.at as Date,
  }))
}

/** `output` is JSON text. Refused with LEASE_LOST where another holds the job. */
export async function rememberStep(store: Store, { id, token, leaseId }: Lease, name: string, output: string) {
  await call(store, REMEMBER, [id, token, leaseId, name, output])
}

/** undefined: the event must be waited for. */
export async function pollEvent(
  store: Store,
  { id, token, leaseId }: Lease,
  name: string,
  event: string,
): Promise<FoundEvent | undefined> {
  const [row] = await call(store, LOOK_FOR_EVENT, [id, token, leaseId, name, event])
  return row && { payload: row.payload, isTimeout: row.is_timeout as boolean }
}

export interface EmittedEvent {
  /** false when it had been emitted before: then its payload stands. */
  readonly isFirst: boolean
  readonly payload: unknown
  /** How many jobs it woke. */
  readonly woken: number
}

/** `payload` is JSON text. */
export async function emitEvent(store: Store, event: string, payload: string, tx?: Queryable): Promise<EmittedEvent> {
  const [row] = await call(store, { invocation: 'emit_event_v1($1, $2::text::jsonb)' }, [event, payload], tx)
  return Object.freeze({
    isFirst: row?.is_first === true,
    payload: row?.payload ?? null,
    woken: (row?.woken ?? 0) as number,
  })
}

// JSON null and no value at all are the same to the driver.
const READ = {
  invocation: 'read_durable_steps_v1($1)',
  columns: `c.*, c.kind = 'event' and c.is_over and c.output is null as is_given_up`,
}
const REMEMBER = { invocation: 'store_durable_step_v1($1, $2, $3, $4, $5::text::jsonb)' }
const LOOK_FOR_EVENT = {
  invocation: 'poll_event_v1($1, $2, $3, $4, $5)',
  columns: 'c.payload, c.payload is null as is_timeout',
}
