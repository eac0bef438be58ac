// Serves schedules: plans the next tick, fires what is due. Every worker does it, none leads; the database lets one at a time,
// and nothing is kept in memory only.

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
  onFired(fact: { jobKey: string; type: string; ticks: readonly Tick[]; ids: readonly JobId[] }): void
  /** A schedule that could not be served. */
  onScheduleFault(fact: { jobKey: string; tick: Date | null; error: unknown }): void
  /** Settings of an operator are in force instead of code's. */
  onEdited(jobKey: string): void
  onFault(doing: string, error: unknown): void
}

// Of what is due later than this the next word tells; a timer cannot wait for years.
const FAR_MS = 60_000
// A look that failed is taken again.
const AFTER_FAULT_MS = 1000
// What is served now has its next tick by then.
const SOON_MS = 50
// What another worker does at the same moment, or an operator has just done, is no fault.
const ELSEWHERE: ReadonlySet<ErrorCode> = new Set(['JOB_LOCKED', 'JOB_NOT_DUE', 'JOB_DISABLED', 'JOB_UNKNOWN'])

export class Scheduler {
  readonly #store: Store
  readonly #options: SchedulerOptions
  readonly #known: readonly string[]
  readonly #serving = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #looksAt = Number.POSITIVE_INFINITY
  #looking: Promise<void> | undefined
  #isStopping = false

  constructor(store: Store, options: SchedulerOptions) {
    this.#store = store
    this.#options = options
    this.#known = [...options.definitions.keys()]
  }

  /** A schedule will need a worker in so many milliseconds, or does by now: looks then. */
  expect(inMs: number | undefined): void {
    if (inMs !== undefined && inMs < FAR_MS) this.#lookIn(Math.max(1, inMs))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#looking
    await Promise.all(this.#serving.values())
  }

  /** Serves what is due now, once. */
  async runOnce(): Promise<void> {
    await this.#look()
    await Promise.all(this.#serving.values())
  }

  /** Writes down what code says; before the start, so that a schedule that cannot be stored keeps the worker from starting. */
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

  /** Unless it looks sooner anyway. */
  #lookIn(ms: number): void {
    const at = performance.now() + ms
    if (this.#isStopping || at >= this.#looksAt) return
    clearTimeout(this.#timer)
    this.#looksAt = at
    this.#timer = setTimeout(async () => {
      await this.#looking
      if (this.#isStopping) return
      this.#looksAt = Number.POSITIVE_INFINITY
      this.#looking = this.#look().then((nextInMs) => this.expect(nextInMs))
    }, ms)
  }

  /** Begins to serve what is due; milliseconds until it must look again. A schedule that takes long holds up no other. */
  async #look(): Promise<number | undefined> {
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
      // The next look, here or in another worker, finds the same schedules.
      this.#options.onFault('looking for due schedules', error)
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
      this.#options.onFault(`writing down the fault of schedule ${jobKey}`, failure)
    }
  }
}
