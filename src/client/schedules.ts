// Schedules of an application: read them, change them at run time, enqueue jobs independent of their ticks.

import { computedInput, type TickInput, tickInput } from '../calendar/tick-input.js'
import { checkTicks, nextTick, ticksBetween } from '../calendar/ticks.js'
import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import type { JobDefinition } from '../domain/job/definition.js'
import type { JobId } from '../domain/job/job.js'
import {
  checkJobKey,
  checkTiming,
  defineSchedule,
  type FiringOptions,
  indexByJobKey,
  type ScheduleDefinition,
  type ScheduleOptions,
  type TimingOptions,
} from '../domain/schedule/define-schedule.js'
import type { Schedule, Tick, TickJobOptions, Timing } from '../domain/schedule/schedule.js'
import { optionsText, type ScheduleChanges } from '../store/schedules/schedule-rows.js'
import * as stored from '../store/schedules/schedules.js'
import type { Store } from '../store/store.js'

interface Actor {
  /** Who does it, for the audit; the database role by default. */
  readonly actor?: string
}

/** Only what changes; null takes an option back to its default. */
export type ScheduleUpdate = {
  readonly [Name in keyof (TimingOptions & FiringOptions)]?: (TimingOptions & FiringOptions)[Name] | null
} & TickJobOptions & { readonly input?: unknown }

// What one backfill may make, and what the database takes in one call.
const MOST_TICKS = 1000

export class Schedules {
  readonly #store: Store
  readonly #jobs: ReadonlyMap<string, JobDefinition>
  readonly #definitions: ReadonlyMap<string, ScheduleDefinition>

  constructor(store: Store, jobs: ReadonlyMap<string, JobDefinition>, definitions: readonly ScheduleDefinition[]) {
    this.#store = store
    this.#jobs = jobs
    this.#definitions = indexByJobKey(definitions)
    for (const definition of definitions) checkTicks(definition)
  }

  /** In order of their key; `after` is the last key already seen. */
  list(options: { after?: string; limit?: number } = {}): Promise<Schedule[]> {
    return stored.listSchedules(this.#store, options.after ?? '', options.limit ?? 100)
  }

  /** undefined when there is no such schedule. */
  find(jobKey: string): Promise<Schedule | undefined> {
    return stored.findSchedule(this.#store, checkJobKey(jobKey))
  }

  /** Its ticks and their outcome, newest first. */
  ticks(jobKey: string, options: { before?: Date; limit?: number } = {}): Promise<Tick[]> {
    return stored.scheduleTicks(this.#store, checkJobKey(jobKey), options.before, options.limit ?? 100)
  }

  /** Makes a schedule at run time. Its input is a value: a function lives in code, in `schedules` of createHoldfast. */
  async create(options: ScheduleOptions & Actor): Promise<Schedule> {
    const { actor = null, ...described } = options
    const definition = defineSchedule(described)
    if (definition.inputOf)
      throw invalidOption('input', 'a value; functions belong to defineSchedule', definition.inputOf)
    checkTicks(definition)
    const { jobKey, type, input, ...settings } = definition
    const job = definition.job ?? this.#jobs.get(type)
    const given = await tickInput(job, input)
    const jobOptions = { ...ofJob(job), ...settings.options, ...given.key }
    const wanted = { ...settings, type, options: jobOptions, input: given.input }
    await stored.createSchedule(this.#store, jobKey, wanted, actor)
    return this.#existing(jobKey)
  }

  /** Changes the given settings and keeps those of the code beside them; null instead of changes resets to the code's. */
  async update(jobKey: string, changes: ScheduleUpdate | null, options: Actor = {}): Promise<Schedule> {
    const actor = options.actor ?? null
    const before = await this.#existing(jobKey)
    const settings = changes && (await this.#changesOf(before, changes))
    await stored.updateSchedule(this.#store, jobKey, settings, actor)
    return this.#existing(jobKey)
  }

  /** false when it was enabled already. Ticks that passed meanwhile are not owed. */
  enable(jobKey: string, options: Actor = {}): Promise<boolean> {
    return stored.switchSchedule(this.#store, checkJobKey(jobKey), 'enable', options.actor ?? null)
  }

  /** false when it was disabled already. */
  disable(jobKey: string, options: Actor = {}): Promise<boolean> {
    return stored.switchSchedule(this.#store, checkJobKey(jobKey), 'disable', options.actor ?? null)
  }

  /** Keeps its jobs. While code defines it, the next start of a worker creates it again. */
  delete(jobKey: string, options: Actor = {}): Promise<void> {
    return stored.deleteSchedule(this.#store, checkJobKey(jobKey), options.actor ?? null)
  }

  /** A job now, beside the ticks; its id. */
  async trigger(jobKey: string, options: Actor & { input?: unknown } = {}): Promise<JobId> {
    const schedule = await this.#existing(jobKey)
    const given =
      options.input === undefined
        ? await this.#inputOf(schedule, await stored.databaseNow(this.#store))
        : await tickInput(this.#jobs.get(schedule.type), options.input)
    const texts = given && { input: given.input, options: optionsText(given.key ?? {}) }
    return stored.triggerSchedule(this.#store, jobKey, texts ?? {}, options.actor ?? null)
  }

  /** The next tick makes no job; which tick that is. */
  skipNext(jobKey: string, options: Actor = {}): Promise<Date> {
    return stored.skipSchedule(this.#store, checkJobKey(jobKey), options.actor ?? null)
  }

  /** Jobs for the ticks from `from` up to, not including, `to` that have none yet. At most 1,000 ticks at a time. */
  async backfill(jobKey: string, options: Actor & { from: Date; to: Date }): Promise<{ tick: Date; jobId: JobId }[]> {
    const schedule = await this.#existing(jobKey)
    const { from, to, actor = null } = options
    const fire = ticksBetween(schedule, justBefore(from), justBefore(to), MOST_TICKS + 1)
    if (fire.length > MOST_TICKS) throw invalidOption('from and to', `a range of at most ${MOST_TICKS} ticks`, 'more')
    if (!schedule.inputFromCode) {
      return stored.backfillSchedule(this.#store, jobKey, { fire, inputs: undefined, options: undefined }, actor)
    }
    const given: TickInput[] = []
    for (const tick of fire) given.push((await this.#inputOf(schedule, tick)) as TickInput)
    const texts = { inputs: given.map(({ input }) => input), options: given.map(({ key }) => optionsText(key ?? {})) }
    return stored.backfillSchedule(this.#store, jobKey, { fire, ...texts }, actor)
  }

  /** The next ticks of a stored schedule or of any timing, by the database's clock unless `after` is given. */
  async preview(what: string | TimingOptions, options: { after?: Date; limit?: number } = {}): Promise<Date[]> {
    const timing: Timing = typeof what === 'string' ? await this.#existing(what) : checkTiming('preview', what)
    checkTicks(timing)
    let tick: Date | undefined = options.after ?? (await stored.databaseNow(this.#store))
    const ticks: Date[] = []
    const limit = Math.min(options.limit ?? 10, MOST_TICKS)
    while (ticks.length < limit) {
      tick = nextTick(timing, tick)
      if (!tick) break
      ticks.push(tick)
    }
    return ticks
  }

  async #existing(jobKey: string): Promise<Schedule> {
    const schedule = await this.find(jobKey)
    if (schedule) return schedule
    throw new HoldfastError('JOB_UNKNOWN', 'job_unknown', { details: { jobKey } })
  }

  /** undefined: the stored input. */
  async #inputOf(schedule: Schedule, tick: Date): Promise<TickInput | undefined> {
    if (!schedule.inputFromCode) return undefined
    const definition = this.#definitions.get(schedule.jobKey)
    if (definition?.inputOf) return computedInput(definition, definition.job ?? this.#jobs.get(schedule.type), tick)
    const message = `the input of ${schedule.jobKey} is computed by code that this process does not have`
    throw new HoldfastError('INVALID_OPTION', message, { details: { jobKey: schedule.jobKey } })
  }

  /** Checked together with what stays; only what was named is sent. */
  async #changesOf(schedule: Schedule, changes: ScheduleUpdate): Promise<ScheduleChanges> {
    const { jobKey, type, options: kept } = schedule
    const { input, queue, priority, maxAttempts, tags, ...settings } = changes
    const job = this.#jobs.get(type)
    const checked = defineSchedule({
      jobKey,
      job: job ?? type,
      ...kept,
      ...describedBy(schedule, settings),
      ...present(changes),
    })
    checkTicks(checked)
    const given = input === undefined ? undefined : await tickInput(job, input)
    const fields = Object.keys(settings).map((name) => [
      SETTINGS[name as keyof typeof SETTINGS],
      settings[name as keyof typeof settings] === null ? null : checked[SETTINGS[name as keyof typeof SETTINGS]],
    ])
    const isOfJob = given ?? queue ?? priority ?? maxAttempts ?? tags
    return {
      ...Object.fromEntries(fields),
      ...(given && { input: given.input }),
      ...(isOfJob !== undefined && { options: { ...kept, ...checked.options, ...given?.key } }),
    }
  }
}

/** Where an option of the user is kept. */
const SETTINGS = {
  cron: 'cron',
  every: 'everyMs',
  timezone: 'timezone',
  gap: 'gap',
  twice: 'twice',
  startsAt: 'startsAt',
  endsAt: 'endsAt',
  missed: 'missed',
  window: 'windowMs',
  overlap: 'overlap',
  jitter: 'jitterMs',
} as const satisfies Record<keyof (TimingOptions & FiringOptions), keyof ScheduleDefinition>

/** The stored settings that the changes do not name, as a user would write them. */
function describedBy(schedule: Schedule, changes: ScheduleUpdate): TimingOptions & FiringOptions {
  const isRetimed = changes.cron != null || changes.every != null
  const options = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[])
    .filter((name) => !(name in changes) && !(isRetimed && (name === 'cron' || name === 'every')))
    .map((name) => [name, schedule[SETTINGS[name]]] as const)
  return present(Object.fromEntries(options))
}

function present<T extends object>(options: T): { [Name in keyof T]: NonNullable<T[Name]> } {
  const entries = Object.entries(options).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]: NonNullable<T[Name]> }
}

function ofJob(job: JobDefinition | undefined): TickJobOptions | undefined {
  return job && { queue: job.queue, priority: job.priority, maxAttempts: job.maxAttempts }
}

function justBefore(moment: Date): Date {
  if (!(moment instanceof Date) || Number.isNaN(moment.getTime())) throw invalidOption('from and to', 'Dates', moment)
  return new Date(moment.getTime() - 1)
}
