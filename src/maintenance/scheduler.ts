// Plans the next tick of each schedule and fires due ticks. Every worker does so, none leads; the database lets one at a time,
// and keeps all state.

import { type FiringPlan, planFiring } from '../calendar/firing.js'
import { computedInput, tickInput } from '../calendar/tick-input.js'
import { nextTick } from '../calendar/ticks.js'
import { type ErrorCode, HoldfastError, isHoldfastError } from '../domain/error/errors.js'
import type { JobDefinition } from '../domain/job/definition.js'
import type { JobId } from '../domain/job/job.js'
import { describeFailure } from '../domain/run/failure.js'
import type { ScheduleDefinition } from '../domain/schedule/define-schedule.js'
import type { Schedule, Tick } from '../domain/schedule/schedule.js'
import { optionsText } from '../store/schedules/schedule-rows.js'
import { claimTicks, dueSchedules, faultSchedule, planSchedule, putSchedules } from '../store/schedules/schedules.js'
import type { Store } from '../store/store.js'

export interface SchedulerOptions {
  readonly worker: string
  readonly definitions: ReadonlyMap<string, ScheduleDefinition>
  readonly jobs: ReadonlyMap<string, JobDefinition>
  onFired(event: { jobKey: string; type: string; ticks: readonly Tick[]; ids: readonly JobId[] }): void
  /** A tick could not be planned or fired. */
  onScheduleFault(event: { jobKey: string; tick: Date | null; error: unknown }): void
  /** Settings of an operator are in force instead of code's. */
  onEdited(jobKey: string): void
  onFault(doing: string, error: unknown): void
}

// What is due later is left to the next poll for maintenance: a timer cannot wait for years.
const FAR_MS = 60_000
// Until a failed poll is repeated.
const AFTER_FAULT_MS = 1000
// By then a schedule that was just served has its next tick.
const SOON_MS = 50
// Another worker or an operator was faster, which is no fault.
const ELSEWHERE: ReadonlySet<ErrorCode> = new Set(['JOB_LOCKED', 'JOB_NOT_DUE', 'JOB_DISABLED', 'JOB_UNKNOWN'])

export class Scheduler {
  readonly #store: Store
  readonly #options: SchedulerOptions
  readonly #known: readonly string[]
  readonly #serving = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #pollsAt = Number.POSITIVE_INFINITY
  #polling: Promise<void> | undefined
  #isStopping = false

  constructor(store: Store, options: SchedulerOptions) {
    this.#store = store
    this.#options = options
    this.#known = [...options.definitions.keys()]
  }

  /** `inMs`: time until a schedule needs a worker. Polls then. */
  expect(inMs: number | undefined): void {
    if (inMs !== undefined && inMs < FAR_MS) this.#pollIn(Math.max(1, inMs))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#polling
    await Promise.all(this.#serving.values())
  }

  /** Serves what is due now, once. */
  async runOnce(): Promise<void> {
    await this.#poll()
    await Promise.all(this.#serving.values())
  }

  /** Stores the definitions of code. Called before the start: a schedule that cannot be stored prevents it. */
  async put(): Promise<void> {
    if (this.#known.length === 0) return
    const settings = await Promise.all([...this.#options.definitions.values()].map((each) => this.#settingsOf(each)))
    for (const jobKey of await putSchedules(this.#store, settings)) this.#options.onEdited(jobKey)
  }

  async #settingsOf(definition: ScheduleDefinition) {
    const { jobKey, input, inputOf, ...settings } = definition
    const job = this.#jobOf(definition)
    const options = {
      ...(job && { queue: job.queue, priority: job.priority, maxAttempts: job.maxAttempts }),
      ...settings.options,
    }
    if (inputOf) return { ...settings, jobKey, options, input: null }
    const given = await tickInput(job, input)
    return { ...settings, jobKey, options: { ...options, ...given.key }, input: given.input }
  }

  #jobOf({ job, type }: ScheduleDefinition): JobDefinition | undefined {
    return job ?? this.#options.jobs.get(type)
  }

  /** Polls after `ms`, unless a poll comes sooner. */
  #pollIn(ms: number): void {
    const at = performance.now() + ms
    if (this.#isStopping || at >= this.#pollsAt) return
    clearTimeout(this.#timer)
    this.#pollsAt = at
    this.#timer = setTimeout(async () => {
      await this.#polling
      if (this.#isStopping) return
      this.#pollsAt = Number.POSITIVE_INFINITY
      this.#polling = this.#poll().then((nextInMs) => this.expect(nextInMs))
    }, ms)
  }

  /** Begins to serve due schedules, side by side; returns the milliseconds until the next poll. */
  async #poll(): Promise<number | undefined> {
    try {
      const { due, now, nextInMs } = await dueSchedules(this.#store, this.#known)
      const begun = due.filter(({ jobKey }) => !this.#serving.has(jobKey) && !this.#isStopping)
      for (const schedule of begun) {
        const { jobKey } = schedule
        const served = this.#serve(schedule, now).finally(() => this.#serving.delete(jobKey))
        this.#serving.set(jobKey, served)
      }
      return begun.length > 0 ? SOON_MS : nextInMs
    } catch (error) {
      // The next poll, here or in another worker, finds the same schedules.
      this.#options.onFault('polling for due schedules', error)
      return AFTER_FAULT_MS
    }
  }

  async #serve(schedule: Schedule, now: Date): Promise<void> {
    try {
      if (schedule.nextTick === null) await planSchedule(this.#store, schedule, nextTick(schedule, schedule.countsFrom))
      else await this.#fire(schedule, planFiring(schedule, schedule, schedule.nextTick, now))
    } catch (error) {
      if (isHoldfastError(error) && ELSEWHERE.has(error.code)) return
      if (isHoldfastError(error, 'CONNECTION_FAILED')) return this.#options.onFault('serving schedules', error)
      await this.#fault(schedule, error)
    }
  }

  async #fire(schedule: Schedule, plan: FiringPlan): Promise<void> {
    const { jobKey, type } = schedule
    const given = schedule.inputFromCode ? await this.#inputsOf(schedule, plan.fire) : undefined
    const ticks = await claimTicks(this.#store, schedule, {
      ...plan,
      worker: this.#options.worker,
      inputs: given?.map(({ input }) => input),
      options: given?.map(({ key }) => optionsText(key ?? {})),
    })
    const ids = ticks.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]))
    this.#options.onFired({ jobKey, type, ticks, ids })
  }

  async #inputsOf({ jobKey }: Schedule, ticks: readonly Date[]) {
    const definition = this.#options.definitions.get(jobKey)
    if (!definition?.inputOf) {
      throw new HoldfastError('INVALID_OPTION', `the definition of ${jobKey} here has no input function`)
    }
    const inputs = []
    for (const tick of ticks) inputs.push(await computedInput(definition, this.#jobOf(definition), tick))
    return inputs
  }

  async #fault(schedule: Schedule, error: unknown): Promise<void> {
    const { jobKey, nextTick: tick } = schedule
    this.#options.onScheduleFault({ jobKey, tick, error })
    try {
      await faultSchedule(this.#store, schedule, this.#options.worker, describeFailure(error))
    } catch (failure) {
      this.#options.onFault(`storing the fault of schedule ${jobKey}`, failure)
    }
  }
}
