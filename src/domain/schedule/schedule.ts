// A schedule: a recurring job, by its key. Its settings, its ticks, and how it is stored.

import type { JobId, KeyPolicy } from '../job/job.js'
import type { Failure } from '../run/failure.js'

export const MISSED_POLICIES = ['skip', 'last', 'all'] as const
export type MissedPolicy = (typeof MISSED_POLICIES)[number]
export const OVERLAP_POLICIES = ['allow', 'skip', 'supersede'] as const
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number]
/** A local time that the clock leaps over: at the first instant after it, or not at all. */
export const GAP_POLICIES = ['after', 'skip'] as const
export type GapPolicy = (typeof GAP_POLICIES)[number]
/** A local time that comes twice. */
export const TWICE_POLICIES = ['first', 'second', 'both'] as const
export type TwicePolicy = (typeof TWICE_POLICIES)[number]

/** When a schedule ticks. Either `cron` or `everyMs` is there. */
export interface Timing {
  readonly cron: string | null
  readonly everyMs: number | null
  readonly timezone: string
  /** null: as the pattern suggests, see the calendar. */
  readonly gap: GapPolicy | null
  readonly twice: TwicePolicy | null
  readonly startsAt: Date | null
  readonly endsAt: Date | null
}

/** What happens at its ticks. */
export interface Firing {
  readonly missed: MissedPolicy
  readonly windowMs: number
  readonly overlap: OverlapPolicy
  readonly jitterMs: number
}

/** Of the jobs that its ticks make. */
export interface TickJobOptions {
  readonly queue?: string
  readonly priority?: number
  readonly maxAttempts?: number
  readonly tags?: readonly string[]
}

/** The key of a tick's job, by the job's definition. */
export interface TickKey {
  readonly key?: string
  readonly keyPolicy?: KeyPolicy
  readonly coalesce?: 'replace' | 'keep'
}

export interface StoredSettings extends Timing, Firing {
  readonly type: string
  readonly input: unknown
  /** Code computes the input of each tick; only workers that have its definition fire it. */
  readonly inputFromCode: boolean
  readonly options: TickJobOptions & TickKey
}

/** A stored schedule as a reader sees it at one moment. */
export interface Schedule extends StoredSettings {
  readonly jobKey: string
  readonly isEnabled: boolean
  /** null: a worker has not planned it yet, or there is none any more (`isOver`). */
  readonly nextTick: Date | null
  readonly isOver: boolean
  readonly lastTick: Date | null
  readonly lastJob: JobId | null
  /** Ticks after this moment are owed. */
  readonly countsFrom: Date
  /** Grows at every change of timing. */
  readonly version: string
  readonly lockedBy: string | null
  readonly lockedUntil: Date | null
  /** An operator's settings are in force; `code` holds what code says instead. */
  readonly isEdited: boolean
  /** null for a schedule that was made at run time. */
  readonly code: StoredSettings | null
  /** Why the due tick could not be fired yet. */
  readonly fault: {
    readonly tick: Date | null
    readonly at: Date
    readonly times: number
    readonly error: Failure
  } | null
}

export const TICK_STATES = ['fired', 'skipped', 'missed', 'overlapped'] as const
export type TickState = (typeof TICK_STATES)[number]

/** A tick and its outcome. */
export interface Tick {
  readonly tick: Date
  readonly state: TickState
  readonly jobId: JobId | null
}
