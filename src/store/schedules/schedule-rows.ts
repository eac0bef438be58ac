// Schedules as rows and as the settings that SQL takes.

import {
  GAP_POLICIES,
  MISSED_POLICIES,
  OVERLAP_POLICIES,
  type Schedule,
  type StoredSettings,
  TICK_STATES,
  type Tick,
  type TickJobOptions,
  type TickKey,
  TWICE_POLICIES,
} from '../../domain/schedule/schedule.js'
import { toFailureOrNull } from '../rows/job-rows.js'
import type { RowReader } from '../rows/row-reader.js'

/** The settings to store. `input` is JSON text; null: code computes it. */
export type ScheduleSettings = Omit<StoredSettings, 'input' | 'inputFromCode'> & { readonly input: string | null }

/** The settings to change; null resets one to its default. */
export type ScheduleChanges = { readonly [Name in keyof ScheduleSettings]?: ScheduleSettings[Name] | null }

export function toSchedule(row: RowReader): Schedule {
  const isOver = row.json('next_tick') === Number.POSITIVE_INFINITY // as the driver reads infinity
  const code = row.nestedOrNull('code')
  const fault = row.nestedOrNull('fault')
  return Object.freeze({
    ...toSettings(row),
    jobKey: row.text('job_key'),
    isEnabled: row.boolean('enabled'),
    nextTick: isOver ? null : row.momentOrNull('next_tick'),
    isOver,
    lastTick: row.momentOrNull('last_tick'),
    lastJob: row.idOrNull('last_job'),
    countsFrom: row.moment('counts_from'),
    version: row.id('version'),
    lockedBy: row.textOrNull('locked_by'),
    lockedUntil: row.momentOrNull('locked_until'),
    isEdited: row.boolean('is_edited'),
    code: code && toSettings(code),
    fault: fault && toFault(fault),
  })
}

/** From a row, or from JSON, where a setting that is not set is absent. */
function toSettings(row: RowReader): StoredSettings {
  return {
    type: row.text('type'),
    cron: row.textOrNull('cron'),
    everyMs: row.numberOrNull('every_ms'),
    timezone: row.text('timezone'),
    gap: row.oneOfOrNull('gap', GAP_POLICIES),
    twice: row.oneOfOrNull('twice', TWICE_POLICIES),
    startsAt: row.momentOrNull('starts_at'),
    endsAt: row.momentOrNull('ends_at'),
    missed: row.oneOf('missed', MISSED_POLICIES),
    windowMs: row.number('window_ms'),
    overlap: row.oneOf('overlap', OVERLAP_POLICIES),
    jitterMs: row.number('jitter_ms'),
    input: row.json('input'),
    inputFromCode: row.boolean('input_from_code'),
    options: toOptions(row.object('options')),
  }
}

function toOptions({ max_attempts, key_policy, ...same }: Record<string, unknown>): StoredSettings['options'] {
  return {
    ...same,
    ...(max_attempts !== undefined && { maxAttempts: max_attempts as number }),
    ...(key_policy !== undefined && { keyPolicy: key_policy as NonNullable<TickKey['keyPolicy']> }),
  }
}

function toFault(row: RowReader): NonNullable<Schedule['fault']> {
  const error = toFailureOrNull(row, 'error') ?? { name: 'Error', message: '' }
  return { tick: row.momentOrNull('tick'), at: row.moment('at'), times: row.number('times'), error }
}

export function toTick(row: RowReader): Tick {
  return { tick: row.moment('tick'), state: row.oneOf('state', TICK_STATES), jobId: row.idOrNull('job_id') }
}

/** Settings or changes as JSON text. The input is JSON text already and is inserted as it is. */
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

function fromOptions({ maxAttempts, keyPolicy, ...same }: TickJobOptions & TickKey): Record<string, unknown> {
  return { ...same, max_attempts: maxAttempts, key_policy: keyPolicy }
}
