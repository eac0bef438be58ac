// Schedules as rows and as the settings that SQL takes: the only place that knows both spellings.

import type { Failure } from '../../domain/job/failure.js'
import type {
  Schedule,
  StoredSettings,
  Tick,
  TickJobOptions,
  TickKey,
  TickState,
} from '../../domain/schedule/schedule.js'
import type { Row } from '../connection/connection.js'

/** What a schedule is to be. `input` is JSON text; null: code computes it. */
export type ScheduleSettings = Omit<StoredSettings, 'input' | 'inputFromCode'> & { readonly input: string | null }

/** Only what changes; null takes a setting back to its default. */
export type ScheduleChanges = { readonly [Name in keyof ScheduleSettings]?: ScheduleSettings[Name] | null }

export function toSchedule(row: Row): Schedule {
  return Object.freeze({
    ...toSettings(row),
    jobKey: row.job_key as string,
    isEnabled: row.enabled as boolean,
    nextTick: row.next_tick instanceof Date ? row.next_tick : null,
    // The driver reads infinity as a number.
    isOver: row.next_tick !== null && !(row.next_tick instanceof Date),
    lastTick: row.last_tick as Date | null,
    lastJob: row.last_job === null ? null : String(row.last_job),
    countsFrom: row.counts_from as Date,
    version: String(row.version),
    lockedBy: row.locked_by as string | null,
    lockedUntil: row.locked_until as Date | null,
    isEdited: row.is_edited as boolean,
    code: row.code === null ? null : toSettings(row.code as Row),
    fault: row.fault === null ? null : toFault(row.fault as Row),
  })
}

/** Of a row, or of settings as JSON, where what is not set is absent. */
function toSettings(row: Row): StoredSettings {
  return {
    type: row.type as string,
    cron: (row.cron ?? null) as string | null,
    everyMs: typeof (row.every_ms ?? null) === 'object' ? null : Number(row.every_ms),
    timezone: row.timezone as string,
    gap: (row.gap ?? null) as StoredSettings['gap'],
    twice: (row.twice ?? null) as StoredSettings['twice'],
    startsAt: toMoment(row.starts_at),
    endsAt: toMoment(row.ends_at),
    missed: row.missed as StoredSettings['missed'],
    windowMs: Number(row.window_ms),
    overlap: row.overlap as StoredSettings['overlap'],
    jitterMs: Number(row.jitter_ms),
    input: row.input ?? null,
    inputFromCode: row.input_from_code as boolean,
    options: toOptions(row.options as Row),
  }
}

function toOptions({ max_attempts, key_policy, ...same }: Row): StoredSettings['options'] {
  return {
    ...same,
    ...(max_attempts !== undefined && { maxAttempts: max_attempts as number }),
    ...(key_policy !== undefined && { keyPolicy: key_policy as NonNullable<TickKey['keyPolicy']> }),
  }
}

function toFault({ tick, at, times, error }: Row): NonNullable<Schedule['fault']> {
  return { tick: toMoment(tick), at: new Date(at as string), times: Number(times), error: error as Failure }
}

function toMoment(value: unknown): Date | null {
  return value === null || value === undefined ? null : new Date(value as string | Date)
}

export function toTick(row: Row): Tick {
  return {
    tick: row.tick as Date,
    state: row.state as TickState,
    jobId: row.job_id === null ? null : String(row.job_id),
  }
}

/** JSON text of settings or changes; the input is JSON text already and is not parsed and printed again. */
export function settingsText(settings: ScheduleChanges, jobKey?: string): string {
  const { input, options } = settings
  const text = JSON.stringify({
    ...(jobKey !== undefined && { job_key: jobKey }),
    type: settings.type,
    cron: settings.cron,
    every_ms: settings.everyMs,
    timezone: settings.timezone,
    gap: settings.gap,
    twice: settings.twice,
    starts_at: settings.startsAt,
    ends_at: settings.endsAt,
    missed: settings.missed,
    window_ms: settings.windowMs,
    overlap: settings.overlap,
    jitter_ms: settings.jitterMs,
    ...(options && { options: fromOptions(options) }),
    ...(input === null && { input_from_code: true }),
  })
  if (typeof input !== 'string') return text
  return text === '{}' ? `{"input":${input}}` : `${text.slice(0, -1)},"input":${input}}`
}

export function optionsText(options: TickJobOptions & TickKey): string {
  return JSON.stringify(fromOptions(options))
}

function fromOptions({ maxAttempts, keyPolicy, ...same }: TickJobOptions & TickKey): Row {
  return { ...same, max_attempts: maxAttempts, key_policy: keyPolicy }
}
