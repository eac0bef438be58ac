// A Holdfast for the tests of an application: a fresh database in memory, a clock that stands still, and jobs that run only
// when drain() is called.

import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import type { JobDefinition } from '../domain/job/definition.js'
import { isFinalState, type Job, type JobState } from '../domain/job/job.js'
import type { BeginTransaction } from '../domain/run/context.js'
import { indexByJobKey } from '../domain/schedule/define-schedule.js'
import { Holdfast, type HoldfastOptions } from '../holdfast.js'
import { Scheduler } from '../maintenance/scheduler.js'
import { dueSchedules } from '../store/schedules/schedules.js'
import { openFreshDatabase, type PGlite } from '../store/schema/fresh-database.js'
import { Store } from '../store/store.js'
import { Registry } from '../worker/registry.js'
import { reapAbandoned } from './abandoned-leases.js'
import { type CrashOptions, type CrashReport, crashAfterEach } from './crash-after-each.js'
import { expectJobs, fits, type Times } from './expectations.js'
import { allJobs, dueJobs, nextDue, setClock } from './owner-reads.js'
import { TestClock } from './test-clock.js'

export type { Crash, CrashOptions, CrashReport, Round } from './crash-after-each.js'
export type { Times } from './expectations.js'
export type { TestClock } from './test-clock.js'

export interface TestHoldfastOptions<Jobs extends readonly JobDefinition[]>
  extends Pick<HoldfastOptions<Jobs>, 'jobs' | 'schedules' | 'logger' | 'transaction' | 'instrument'> {
  /** The first time that the clock shows; the real time by default. */
  readonly now?: Date | string
}

type AnyJob = JobDefinition | string

// Limits a job that enqueues itself.
const MOST_RUNS = 1000

/** Close it after the test, or declare it with `await using`. */
export async function createTestHoldfast<const Jobs extends readonly JobDefinition[]>(
  options: TestHoldfastOptions<Jobs>,
): Promise<TestHoldfast<Jobs>> {
  const pglite = await openFreshDatabase()
  try {
    const holdfast = new TestHoldfast(options, pglite)
    await holdfast.clock.to(holdfast.clock.now)
    return holdfast
  } catch (error) {
    await pglite.close()
    throw error
  }
}

export class TestHoldfast<Jobs extends readonly JobDefinition[] = readonly JobDefinition[]> extends Holdfast<Jobs> {
  /** The database itself: for tables of your own, and for libraries that take a PGlite. */
  readonly pglite: PGlite
  readonly clock: TestClock
  readonly #ownerStore: Store
  readonly #registry: Registry
  readonly #scheduler: Scheduler
  readonly #known: readonly string[]
  readonly #begin: BeginTransaction | undefined
  #isScheduled = false

  constructor({ now, ...options }: TestHoldfastOptions<Jobs>, pglite: PGlite) {
    super({ ...options, database: pglite, migrate: false, grace: 0 })
    this.pglite = pglite
    this.#ownerStore = new Store({ database: pglite, migrate: false })
    this.#registry = new Registry(options.jobs)
    this.#known = (options.schedules ?? []).map(({ jobKey }) => jobKey)
    this.#begin = options.transaction
    this.#scheduler = makeScheduler(this.#ownerStore, options)
    this.clock = new TestClock(checkNow(now), {
      set: (moment) => setClock(this.#ownerStore, moment),
      serveSchedules: () => this.#serveSchedules(),
      drain: async () => {
        await this.drain()
        return nextDue(this.#ownerStore)
      },
    })
  }

  /** Does nothing: an application that starts its worker may be tested as it is, and drain() runs the jobs. */
  override async start(): Promise<void> {}

  /**
   * Runs due jobs one after the other in the order of claims, also those that they enqueue, until none is due. Returns the
   * jobs that ran; one that failed and waits for its next attempt is pending. Throws after `most` runs, 1,000 by default.
   */
  async drain({ most = MOST_RUNS }: { readonly most?: number } = {}): Promise<Job[]> {
    const ran: string[] = []
    for (;;) {
      await this.#serveSchedules()
      await reapAbandoned(this.#ownerStore)
      const before = ran.length
      for (const id of await dueJobs(this.#ownerStore, this.#registry.types)) if (await this.runJob(id)) ran.push(id)
      if (ran.length === before) break
      if (ran.length > most) {
        throw new HoldfastError('INVALID_OPTION', `more than ${most} runs: does a job enqueue itself without end?`)
      }
    }
    const jobs = await allJobs(this.#ownerStore)
    return jobs.filter(({ id }) => ran.includes(id))
  }

  /** The jobs of a type that were enqueued, in any state; with `match` those whose input fits it. */
  async enqueued(job: AnyJob, match?: unknown): Promise<Job[]> {
    return (await allJobs(this.#ownerStore, typeOf(job))).filter(({ input }) => fits(input, match))
  }

  /** Those of them that are final. */
  async finished(job: AnyJob, match?: unknown): Promise<Job[]> {
    return (await this.enqueued(job, match)).filter(({ state }) => isFinalState(state))
  }

  /** Throws unless such jobs were enqueued; the error shows the actual jobs. */
  async expectEnqueued(job: AnyJob, match?: unknown, { times }: Times = {}): Promise<readonly Job[]> {
    const what = `enqueued ${typeOf(job)}`
    const asked = { what, match, times, at: this.expectEnqueued }
    return expectJobs(await this.enqueued(job), await this.enqueued(job, match), asked)
  }

  /** Throws unless such jobs ended in this state, `completed` by default; the error shows the actual jobs. */
  async expectFinished(
    job: AnyJob,
    match?: unknown,
    { times, state = 'completed' }: Times & { readonly state?: JobState } = {},
  ): Promise<readonly Job[]> {
    const fitting = (await this.finished(job, match)).filter((each) => each.state === state)
    const asked = { what: `${state} ${typeOf(job)}`, match, times, at: this.expectFinished }
    return expectJobs(await this.enqueued(job), fitting, asked)
  }

  /**
   * Runs a job again and again, each time with a crash after another of its operations and a second worker that takes it. The
   * report says whether its effects stay single. Operations are the statements and commits of ctx.tx, ctx.complete and whatever else a
   * handler does by ctx, and its return.
   */
  async crashAfterEach(job: JobDefinition, input: unknown, options: CrashOptions = {}): Promise<CrashReport> {
    const world = {
      store: this.#ownerStore,
      clock: this.clock,
      begin: this.#begin,
      enqueue: (each: JobDefinition, given: unknown) => this.enqueue(each, given),
      runJob: (id: string) => this.runJob(id),
    }
    return crashAfterEach(world, this.#registry.handlerFor(job.type), input, options)
  }

  override async close(): Promise<void> {
    await super.close()
    await this.#ownerStore.close()
    if (!this.pglite.closed) await this.pglite.close()
  }

  async #serveSchedules(): Promise<Date | undefined> {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      await setClock(this.#ownerStore, this.clock.now)
      await this.#scheduler.put()
    }
    for (;;) {
      const { due, now, nextInMs } = await dueSchedules(this.#ownerStore, this.#known)
      if (due.length === 0) return nextInMs === undefined ? undefined : new Date(now.getTime() + nextInMs)
      await this.#scheduler.runOnce()
    }
  }
}

function makeScheduler(
  store: Store,
  { schedules = [], jobs }: TestHoldfastOptions<readonly JobDefinition[]>,
): Scheduler {
  const fail = (error: unknown) => {
    throw error
  }
  return new Scheduler(store, {
    worker: 'test',
    definitions: indexByJobKey(schedules),
    jobs: new Map(jobs.map((job) => [job.type, job])),
    onFired() {},
    onEdited() {},
    onScheduleFault: ({ error }) => fail(error),
    onFault: (_, error) => fail(error),
  })
}

function checkNow(now: Date | string = new Date()): Date {
  const moment = new Date(now)
  if (Number.isNaN(moment.getTime())) throw invalidOption('now', 'a Date or an ISO text', now)
  return moment
}

function typeOf(job: AnyJob): string {
  return typeof job === 'string' ? job : job.type
}
