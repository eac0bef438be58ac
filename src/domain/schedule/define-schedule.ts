// Schedules as code defines them, and the checks of their options.

import { HoldfastError } from '../error/errors.js'
import { invalidOption } from '../error/invalid-option.js'
import type { GivenOf, JobDefinition } from '../job/definition.js'
import { checkMaxAttempts, checkPriority, checkQueueName, checkTags, checkTypeName } from '../job/job.js'
import { type Duration, durationMs } from '../value/duration.js'
import { LIMITS } from '../value/sizes.js'
import { textProblem } from '../value/text.js'
import {
  type Firing,
  GAP_POLICIES,
  type GapPolicy,
  MISSED_POLICIES,
  type MissedPolicy,
  OVERLAP_POLICIES,
  type OverlapPolicy,
  type TickJobOptions,
  type Timing,
  TWICE_POLICIES,
  type TwicePolicy,
} from './schedule.js'

/** A method on purpose: a list of definitions with different inputs is still a list of definitions. */
export interface ScheduleDefinition<Given = unknown> extends Timing, Firing {
  readonly jobKey: string
  readonly type: string
  readonly job: JobDefinition | undefined
  readonly options: TickJobOptions
  /** Stored with the schedule; undefined when `inputOf` computes it from the tick. */
  readonly input: unknown
  inputOf?(about: { readonly tick: Date }): Given | Promise<Given>
}

export interface TimingOptions {
  /** 5 fields, or 6 with seconds first. */
  readonly cron?: string
  /** Counted from `startsAt`, else from 1970-01-01T00:00Z. At least a second. */
  readonly every?: Duration
  /** An IANA name; default UTC. */
  readonly timezone?: string
  readonly gap?: GapPolicy
  readonly twice?: TwicePolicy
  /** The first moment that can be a tick. */
  readonly startsAt?: Date
  /** The first moment that no longer can. */
  readonly endsAt?: Date
}

export interface FiringOptions {
  /** Of the ticks that passed while no worker ran: none, the latest (default), or all. */
  readonly missed?: MissedPolicy
  /** How far back missed ticks are still fired; default a day. */
  readonly window?: Duration
  /** When the job of the tick before is still pending or running: fire (default), skip the tick, or replace that job. */
  readonly overlap?: OverlapPolicy
  /** Spreads the jobs over this time after the tick. */
  readonly jitter?: Duration
}

export interface ScheduleOptions<J extends JobDefinition | string = JobDefinition | string>
  extends TimingOptions,
    FiringOptions,
    TickJobOptions {
  readonly jobKey: string
  readonly job: J
  /** A value, or a function of the tick. */
  readonly input?: InputOf<J> | ((about: { readonly tick: Date }) => InputOf<J> | Promise<InputOf<J>>)
}

type InputOf<J> = J extends JobDefinition ? GivenOf<J> : unknown

/** Describes a schedule. Each start of a worker writes it down; from then on the stored row decides. */
export function defineSchedule<const J extends JobDefinition | string>(
  options: ScheduleOptions<J>,
): ScheduleDefinition {
  const { job, input } = options
  const jobKey = checkJobKey(options.jobKey)
  const definition = typeof job === 'string' ? undefined : (job as JobDefinition)
  return Object.freeze({
    jobKey,
    type: checkTypeName(typeof job === 'string' ? job : (definition?.type ?? '')),
    job: definition,
    options: checkTickJobOptions(options),
    ...checkTiming(jobKey, options),
    ...checkFiring(jobKey, options, definition),
    ...(typeof input === 'function'
      ? { input: undefined, inputOf: input as NonNullable<ScheduleDefinition['inputOf']> }
      : { input: input ?? {} }),
  })
}

// With "schedule:" before it, it is a tag.
const JOB_KEY_CHARACTERS = 90

export function checkJobKey(jobKey: string): string {
  const isFine = typeof jobKey === 'string' && jobKey.length <= JOB_KEY_CHARACTERS && /^\P{Cc}+$/u.test(jobKey)
  if (!isFine || textProblem(jobKey) !== undefined) {
    throw invalidOption('jobKey', `a text of 1 to ${JOB_KEY_CHARACTERS} characters without control characters`, jobKey)
  }
  return jobKey
}

/** Does not check cron and time zone: the calendar does. */
export function checkTiming(jobKey: string, options: TimingOptions): Timing {
  const { cron, every, timezone = 'UTC', gap, twice, startsAt, endsAt } = options
  if ((cron === undefined) === (every === undefined)) {
    throw invalidOption(`timing of ${jobKey}`, 'either cron or every', cron === undefined ? 'neither' : 'both')
  }
  if (startsAt && endsAt && endsAt <= startsAt)
    throw invalidOption(`endsAt of ${jobKey}`, 'later than startsAt', endsAt)
  return {
    cron: cron ?? null,
    everyMs: every === undefined ? null : checkEvery(jobKey, every),
    timezone,
    gap: gap === undefined ? null : oneOf(`gap of ${jobKey}`, GAP_POLICIES, gap),
    twice: twice === undefined ? null : oneOf(`twice of ${jobKey}`, TWICE_POLICIES, twice),
    startsAt: checkMoment(`startsAt of ${jobKey}`, startsAt),
    endsAt: checkMoment(`endsAt of ${jobKey}`, endsAt),
  }
}

export function checkFiring(jobKey: string, options: FiringOptions, job: JobDefinition | undefined): Firing {
  const { missed = 'last', overlap = 'allow', window = '1d', jitter = 0 } = options
  if (overlap === 'supersede' && job?.key) {
    throw invalidOption(`overlap of ${jobKey}`, `allow or skip, since ${job.type} has a key of its own`, overlap)
  }
  return {
    missed: oneOf(`missed of ${jobKey}`, MISSED_POLICIES, missed),
    overlap: oneOf(`overlap of ${jobKey}`, OVERLAP_POLICIES, overlap),
    windowMs: durationMs(window, `window of ${jobKey}`),
    jitterMs: durationMs(jitter, `jitter of ${jobKey}`),
  }
}

export function checkTickJobOptions({ queue, priority, maxAttempts, tags }: TickJobOptions): TickJobOptions {
  if (tags && tags.length >= LIMITS.tags) throw invalidOption('tags', 'one less than a job may have', tags.length)
  return {
    ...(queue !== undefined && { queue: checkQueueName(queue) }),
    ...(priority !== undefined && { priority: checkPriority(priority) }),
    ...(maxAttempts !== undefined && { maxAttempts: checkMaxAttempts(maxAttempts) }),
    ...(tags !== undefined && { tags: checkTags(tags) }),
  }
}

/** Refuses two definitions of one key. */
export function indexByJobKey(definitions: readonly ScheduleDefinition[]): ReadonlyMap<string, ScheduleDefinition> {
  const byKey = new Map(definitions.map((definition) => [definition.jobKey, definition]))
  if (byKey.size < definitions.length) {
    const seen = new Set<string>()
    const twice = definitions.find(({ jobKey }) => seen.size === seen.add(jobKey).size)?.jobKey
    throw new HoldfastError('DUPLICATE_TYPE', `two schedules are defined with the jobKey "${twice}"`, {
      details: { jobKey: twice },
    })
  }
  return byKey
}

function checkEvery(jobKey: string, every: Duration): number {
  const ms = durationMs(every, `every of ${jobKey}`)
  if (ms < 1000) throw invalidOption(`every of ${jobKey}`, 'at least 1s', every)
  return ms
}

function checkMoment(what: string, moment: Date | undefined): Date | null {
  if (moment === undefined) return null
  if (!(moment instanceof Date) || Number.isNaN(moment.getTime())) throw invalidOption(what, 'a valid Date', moment)
  return moment
}

function oneOf<T extends string>(what: string, known: readonly T[], value: T): T {
  if (!known.includes(value)) throw invalidOption(what, known.join(', '), value)
  return value
}
