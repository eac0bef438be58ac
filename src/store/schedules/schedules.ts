// Schedules: their rows, the claim of a tick, and the operations of operators.

import type { JobId } from '../../domain/job/job.js'
import type { Failure } from '../../domain/run/failure.js'
import type { Schedule, Tick } from '../../domain/schedule/schedule.js'
import { quoteIdentifier } from '../../domain/value/schema-name.js'
import { BULK_MS, call, callOne } from '../connection/call.js'
import type { Store } from '../store.js'
import { type ScheduleChanges, type ScheduleSettings, settingsText, toSchedule, toTick } from './schedule-rows.js'

/** Stores the definitions of code; returns the keys whose stored settings an operator has changed. */
export async function putSchedules(
  store: Store,
  schedules: readonly (ScheduleSettings & { jobKey: string })[],
): Promise<string[]> {
  const members = schedules.map(({ jobKey, ...settings }) => settingsText(settings, jobKey))
  const statement = { invocation: 'put_schedules_v1($1::text::jsonb)', columns: 'c as job_key' }
  return (await call(store, statement, [`[${members.join(',')}]`])).map((row) => row.text('job_key'))
}

export interface DueSchedules {
  readonly due: readonly Schedule[]
  /** Time until the next of the others is due. */
  readonly nextInMs: number | undefined
  /** The database's clock. */
  readonly now: Date
}

/** The schedules that need a worker now; `known` are the keys whose input this process can compute. */
export async function dueSchedules(store: Store, known: readonly string[]): Promise<DueSchedules> {
  const columns = `c.*, ${quoteIdentifier(store.schema)}.now() as now`
  const rows = await call(store, { invocation: 'due_schedules_v1($1)', columns }, [known])
  const now = rows[0]?.moment('now') ?? new Date(0)
  const schedules = rows.map(toSchedule)
  const due = schedules.filter((schedule) => dueAt(schedule) <= now.getTime())
  const later = schedules.filter((schedule) => dueAt(schedule) > now.getTime()).map(dueAt)
  return { due, now, nextInMs: later.length === 0 ? undefined : Math.min(...later) - now.getTime() }
}

function dueAt({ nextTick, lockedUntil, fault }: Schedule): number {
  const isClaimed = nextTick !== null || fault !== null
  return Math.max(nextTick?.getTime() ?? 0, isClaimed ? (lockedUntil?.getTime() ?? 0) : 0)
}

/** false when the timing changed or another worker planned meanwhile. `next` undefined: there is no further tick. */
export async function planSchedule(
  store: Store,
  { jobKey, version }: Schedule,
  next: Date | undefined,
): Promise<boolean> {
  const statement = { invocation: 'plan_schedule_v1($1, $2, $3::text::timestamptz)', value: 'planned' }
  return (await callOne(store, statement, [jobKey, version, moment(next)])).boolean('planned')
}

export interface TickClaim {
  readonly worker: string
  readonly fire: readonly Date[]
  /** JSON texts beside `fire`; undefined: the stored input. */
  readonly inputs: readonly string[] | undefined
  readonly options: readonly string[] | undefined
  readonly missed: readonly Date[]
  readonly next: Date | undefined
}

/** Fires ticks of a schedule that is still as it was read. Throws JOB_LOCKED, JOB_NOT_DUE, JOB_DISABLED or JOB_UNKNOWN. */
export async function claimTicks(store: Store, schedule: Schedule, claim: TickClaim): Promise<Tick[]> {
  const { jobKey, nextTick, version } = schedule
  const { worker, fire, inputs, options, missed, next } = claim
  const values = [jobKey, worker, moment(nextTick ?? undefined), moment(next), fire.map(iso), inputs, missed.map(iso)]
  return (await call(store, CLAIM, [...values.map((value) => value ?? null), options ?? null, version])).map(toTick)
}

const CLAIM = {
  invocation: `schedule_claim_next_v1($1, $2, $3::text::timestamptz, $4::text::timestamptz, $5::text[]::timestamptz[],
    $6::text[]::jsonb[], $7::text[]::timestamptz[], $8::text[]::jsonb[], $9)`,
}

/** Stores why the due tick failed; the schedule waits for a while. */
export async function faultSchedule(store: Store, schedule: Schedule, worker: string, error: Failure): Promise<void> {
  const { jobKey, version, nextTick } = schedule
  const invocation = 'fault_schedule_v1($1, $2, $3::text::timestamptz, $4, $5::text::jsonb)'
  const tick = nextTick && iso(nextTick)
  await call(store, { invocation }, [jobKey, version, tick, worker, JSON.stringify(error)])
}

export async function findSchedule(store: Store, jobKey: string): Promise<Schedule | undefined> {
  const [row] = await call(store, { invocation: 'find_schedule_v1($1)' }, [jobKey])
  return row && toSchedule(row)
}

export async function listSchedules(store: Store, after: string, n: number): Promise<Schedule[]> {
  return (await call(store, { invocation: 'list_schedules_v1($1, $2)' }, [after, n])).map(toSchedule)
}

export async function scheduleTicks(
  store: Store,
  jobKey: string,
  before: Date | undefined,
  n: number,
): Promise<Tick[]> {
  const invocation = 'schedule_ticks_v1($1, $2::text::timestamptz, $3)'
  return (await call(store, { invocation }, [jobKey, moment(before), n])).map(toTick)
}

export async function createSchedule(
  store: Store,
  jobKey: string,
  settings: ScheduleSettings,
  actor: string | null,
): Promise<void> {
  await call(store, { invocation: 'create_schedule_v1($1::text::jsonb, $2)' }, [settingsText(settings, jobKey), actor])
}

/** `changes` null: back to the settings of the code. */
export async function updateSchedule(
  store: Store,
  jobKey: string,
  changes: ScheduleChanges | null,
  actor: string | null,
): Promise<void> {
  const text = changes && settingsText(changes)
  await call(store, { invocation: 'update_schedule_v1($1, $2::text::jsonb, $3)' }, [jobKey, text, actor])
}

/** false when it was in that state already. */
export async function switchSchedule(
  store: Store,
  jobKey: string,
  to: 'enable' | 'disable',
  actor: string | null,
): Promise<boolean> {
  const statement = { invocation: `${to}_schedule_v1($1, $2)`, value: 'changed' }
  return (await callOne(store, statement, [jobKey, actor])).boolean('changed')
}

export async function deleteSchedule(store: Store, jobKey: string, actor: string | null): Promise<void> {
  await call(store, { invocation: 'delete_schedule_v1($1, $2)' }, [jobKey, actor])
}

/** `input` and `options` are JSON texts; without `input` the stored one is used. */
export async function triggerSchedule(
  store: Store,
  jobKey: string,
  { input, options }: { input?: string | undefined; options?: string | undefined },
  actor: string | null,
): Promise<JobId> {
  const invocation = 'trigger_schedule_v1($1, $2::text::jsonb, $3::text::jsonb, $4)'
  const row = await callOne(store, { invocation, value: 'id' }, [jobKey, input ?? null, options ?? '{}', actor])
  return row.id('id')
}

export async function skipSchedule(store: Store, jobKey: string, actor: string | null): Promise<Date> {
  const statement = { invocation: 'skip_schedule_v1($1, $2)', value: 'tick' }
  return (await callOne(store, statement, [jobKey, actor])).moment('tick')
}

export async function backfillSchedule(
  store: Store,
  jobKey: string,
  { fire, inputs, options }: Pick<TickClaim, 'fire' | 'inputs' | 'options'>,
  actor: string | null,
): Promise<{ tick: Date; jobId: JobId }[]> {
  const invocation = `backfill_schedule_v1($1, $2::text[]::timestamptz[], $3::text[]::jsonb[], $4::text[]::jsonb[], $5)`
  const values = [jobKey, fire.map(iso), inputs ?? null, options ?? null, actor]
  const rows = await call(store, { invocation, answerMs: BULK_MS }, values)
  return rows.map((row) => ({ tick: row.moment('tick'), jobId: row.id('job_id') }))
}

export async function databaseNow(store: Store): Promise<Date> {
  return (await callOne(store, { invocation: 'now()', value: 'now' }, [])).moment('now')
}

function iso(date: Date): string {
  return date.toISOString()
}

function moment(date: Date | undefined): string {
  return date?.toISOString() ?? 'infinity'
}
