// Durable steps of handlers, and events.

import type { JobId } from '../../domain/job/job.js'
import { type FoundEvent, STEP_KINDS, type StoredStep } from '../../domain/run/durable-step.js'
import { call, callOne } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import type { Store } from '../store.js'
import type { Lease } from './settle.js'

export async function readSteps(store: Store, id: JobId): Promise<StoredStep[]> {
  const rows = await call(store, READ, [id])
  return rows.map((row) => ({
    kind: row.oneOf('kind', STEP_KINDS),
    name: row.text('name'),
    output: row.json('output'),
    isOver: row.boolean('is_over'),
    isGivenUp: row.boolean('is_given_up'),
    event: row.textOrNull('event'),
    wakeAt: row.momentOrNull('wake_at'),
    at: row.moment('at'),
  }))
}

/** `output` is JSON text. Throws LEASE_LOST when another worker holds the job. */
export async function storeStep(store: Store, { id, token, leaseId }: Lease, name: string, output: string) {
  await call(store, STORE, [id, token, leaseId, name, output])
}

/** undefined: the event has not been emitted yet. */
export async function pollEvent(
  store: Store,
  { id, token, leaseId }: Lease,
  name: string,
  event: string,
): Promise<FoundEvent | undefined> {
  const [row] = await call(store, POLL_EVENT, [id, token, leaseId, name, event])
  return row && { payload: row.json('payload'), isTimeout: row.boolean('is_timeout') }
}

export interface EmittedEvent {
  /** false when the event was emitted before; that payload is kept. */
  readonly isFirst: boolean
  readonly payload: unknown
  /** How many jobs it woke. */
  readonly woken: number
}

/** `payload` is JSON text. */
export async function emitEvent(store: Store, event: string, payload: string, tx?: Queryable): Promise<EmittedEvent> {
  const row = await callOne(store, { invocation: 'emit_event_v1($1, $2::text::jsonb)' }, [event, payload], tx)
  return Object.freeze({
    isFirst: row.boolean('is_first'),
    payload: row.json('payload'),
    woken: row.number('woken'),
  })
}

// In SQL, because the driver reads JSON null and SQL null both as null.
const READ = {
  invocation: 'read_durable_steps_v1($1)',
  columns: `c.*, c.kind = 'event' and c.is_over and c.output is null as is_given_up`,
}
const STORE = { invocation: 'store_durable_step_v1($1, $2, $3, $4, $5::text::jsonb)' }
const POLL_EVENT = {
  invocation: 'poll_event_v1($1, $2, $3, $4, $5)',
  columns: 'c.payload, c.payload is null as is_timeout',
}
