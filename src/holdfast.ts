// Assembles client, worker and maintenance into the object that applications use.

import { createRequire } from 'node:module'
import { Client } from './client/client.js'
import type { OwnWorker } from './client/own-worker.js'
import { indexByType, type JobDefinition } from './domain/job/definition.js'
import { type AnyJobId, toJobId } from './domain/job/job.js'
import type { PipelineDefinition } from './domain/pipeline/pipeline.js'
import type { BeginTransaction, Logger } from './domain/run/context.js'
import { indexByJobKey, type ScheduleDefinition } from './domain/schedule/define-schedule.js'
import { BulkWorker } from './maintenance/bulk-worker.js'
import { Housekeeper } from './maintenance/housekeeper.js'
import { MaintenancePoll } from './maintenance/maintenance-poll.js'
import { Reaper } from './maintenance/reaper.js'
import { Scheduler, type SchedulerOptions } from './maintenance/scheduler.js'
import { StatisticsCounter } from './maintenance/statistics-counter.js'
import { EventHub, type EventName, type Events } from './observe/events.js'
import type { Instrument } from './observe/instrument.js'
import { guarded, SILENT } from './observe/log.js'
import { RepeatedFaults } from './observe/repeated-faults.js'
import type { MaintenanceScope, Reaped } from './store/jobs/maintenance.js'
import type { MigrationReport } from './store/schema/migrate.js'
import { Store, type StoreOptions } from './store/store.js'
import { DirectRuns } from './worker/direct-runs.js'
import { workerIdentity } from './worker/identity.js'
import type { JobLifeParts } from './worker/job-life.js'
import { type LeasedCalls, leasedCalls } from './worker/leased-calls.js'
import { type CheckedWorkerOptions, checkWorkerOptions, type WorkerOptions } from './worker/options.js'
import { Registry } from './worker/registry.js'
import { Worker } from './worker/worker.js'

export type { StoreOptions } from './store/store.js'
export interface HoldfastOptions<Jobs extends readonly JobDefinition[]> extends StoreOptions, WorkerOptions {
  readonly jobs: Jobs
  /** Recurring jobs, from defineSchedule. Stored at each start; every started worker serves all stored schedules. */
  readonly schedules?: readonly ScheduleDefinition[]
  /** From definePipeline: every worker needs those whose steps compute their input from results. */
  readonly pipelines?: readonly PipelineDefinition[]
  /** Anything that speaks pino's shape; silent by default. */
  readonly logger?: Logger
  /** How your own library begins a transaction, as in `(work) => db.transaction(work)`: `ctx.tx` then uses it. */
  readonly transaction?: BeginTransaction
  /** Is called around each enqueue and each run; `openTelemetry()` of `holdfast/otel` makes one. */
  readonly instrument?: Instrument
}

/** Opens nothing yet: the database is opened at the first call that needs it. */
export function createHoldfast<const Jobs extends readonly JobDefinition[]>(
  options: HoldfastOptions<Jobs>,
): Holdfast<Jobs> {
  return new Holdfast(options)
}

interface Working {
  readonly worker: Worker
  readonly services: readonly { stop(): Promise<void> }[]
  readonly started: Promise<void>
  isStarted: boolean
}

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

export class Holdfast<Jobs extends readonly JobDefinition[] = readonly JobDefinition[]>
  extends Client<Jobs>
  implements AsyncDisposable
{
  readonly #options: HoldfastOptions<Jobs>
  readonly #store: Store
  readonly #events: EventHub
  readonly #registry: Registry
  readonly #log: Logger
  readonly #leasedCalls: LeasedCalls
  readonly #scheduled: Pick<SchedulerOptions, 'definitions' | 'jobs'>
  readonly #workerOptions: CheckedWorkerOptions
  #working: Working | undefined
  #direct: DirectRuns | undefined
  #stopping: Promise<void> | undefined

  constructor(options: HoldfastOptions<Jobs>) {
    const store = new Store(options)
    const events = new EventHub()
    super(store, events, options.jobs, options.schedules, options.pipelines, options.instrument)
    this.#options = options
    this.#store = store
    this.#events = events
    this.#registry = new Registry(options.jobs)
    this.#log = options.logger ? guarded(options.logger) : SILENT
    const faults = new RepeatedFaults(({ worker, error }, text) => this.#log.warn({ worker, err: error }, text))
    if (options.logger) events.on('worker.fault', faults.add)
    this.#leasedCalls = leasedCalls(store, options.transaction)
    this.#scheduled = { definitions: indexByJobKey(options.schedules ?? []), jobs: indexByType(options.jobs) }
    this.#workerOptions = checkWorkerOptions(options, this.#registry.queues, process.env)
  }

  /** The option `database`; undefined is the embedded default. */
  get database(): HoldfastOptions<Jobs>['database'] {
    return this.#options.database
  }

  get schema(): string {
    return this.#store.schema
  }

  /** The same jobs and schedules with other options, such as another database. Independent of this one. */
  with(options: Partial<Omit<HoldfastOptions<Jobs>, 'jobs' | 'schedules'>>): Holdfast<Jobs> {
    return new Holdfast({ ...this.#options, ...options })
  }

  /** Calls the listener for each lifecycle event of this name; returns the function that removes it. */
  on<N extends EventName>(name: N, listener: (event: Events[N]) => void): () => void {
    return this.#events.on(name, listener)
  }

  /** Migrates the database to this program's schema. A deploy step on a server; automatic on the embedded default. */
  migrate(): Promise<MigrationReport> {
    return this.#store.migrate()
  }

  /**
   * Starts the in-process worker for every job that has a handler. Resolves when it is ready to claim. `alone`: this process
   * does nothing else, as with `holdfast worker`.
   */
  start({ alone = false }: { alone?: boolean } = {}): Promise<void> {
    this.#working ??= this.#startWorking(alone)
    return this.#working.started
  }

  /** Stops the worker and keeps the database open. Jobs may end within the grace; the others are released. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined
    })
    return this.#stopping
  }

  #startWorking(isAlone: boolean): Working {
    const identity = workerIdentity(version)
    const onFault = (doing: string, error: unknown) =>
      this.#events.emit('worker.fault', { worker: identity.id, doing, error })
    const reaper = new Reaper(this.#store, { onReaped: (jobs) => this.#onReaped(worker, jobs), onFault })
    const heartbeats = { silence: (inMs: number) => reaper.expect(inMs), unanswered: () => reaper.unanswered() }
    const worker = new Worker({ ...this.#parts(), identity, isAlone, heartbeats }, this.#workerOptions)
    const housekeeper = new Housekeeper(this.#store, { retentionMs: this.#workerOptions.retentionMs, onFault })
    const bulkWorker = new BulkWorker(this.#store, { onFault })
    const statistics = new StatisticsCounter(this.#store, { onFault })
    const scheduler = this.#makeScheduler(identity.id, onFault)
    const poll = new MaintenancePoll(this.#store, {
      scope: this.#maintenanceScope(),
      onDue: (due) => {
        reaper.expect(due.lostInMs)
        scheduler.expect(due.scheduleInMs)
        bulkWorker.expect(due.hasBulk)
        statistics.expect(due.hasStats)
        if (due.hasQuarantined) worker.expectQuarantined()
      },
      onFault,
    })
    const start = async () => {
      await scheduler.put()
      await worker.start()
      housekeeper.start()
      poll.start()
      working.isStarted = true
    }
    const started = start().catch((error) => {
      if (this.#working === working) this.#working = undefined
      throw error
    })
    const services = [poll, housekeeper, reaper, bulkWorker, statistics, scheduler]
    const working: Working = { worker, services, started, isStarted: false }
    return working
  }

  async #stop(): Promise<void> {
    const working = this.#working
    this.#working = undefined
    // Waits for a start that is under way: half of it could not be stopped. A start that fails leaves nothing to stop.
    if (working && !working.isStarted) await working.started.catch(() => {})
    const started = working?.isStarted ? working : undefined
    // All at once: no job starts while a slow service is still stopping.
    if (started) await Promise.all([started.worker, ...started.services].map((each) => each.stop()))
    const direct = this.#direct
    this.#direct = undefined
    await direct?.stop(this.#workerOptions.graceMs)
  }

  /** Claims, runs and settles one job by its id, here and now. False when another worker has it or it is not eligible. */
  async runJob(id: AnyJobId): Promise<boolean> {
    const { renewal } = this.#workerOptions
    this.#direct ??= new DirectRuns({ ...this.#parts(), worker: workerIdentity(version).id }, renewal)
    return this.#direct.run(toJobId(id))
  }

  /** Stops the worker and closes the database, unless it is the caller's own. */
  async close(): Promise<void> {
    await this.stop()
    await this.#store.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  protected override ownWorker(): OwnWorker | undefined {
    return this.#working?.worker
  }

  #parts(): Omit<JobLifeParts, 'worker'> {
    return {
      store: this.#store,
      registry: this.#registry,
      pipelines: this.pipelineDefinitions,
      events: this.#events,
      log: this.#log,
      calls: this.#leasedCalls,
      instrument: this.#options.instrument,
    }
  }

  #maintenanceScope(): MaintenanceScope {
    const queues = [...this.#workerOptions.queues.keys()]
    return { queues, types: this.#registry.types, schedules: [...this.#scheduled.definitions.keys()] }
  }

  #makeScheduler(worker: string, onFault: SchedulerOptions['onFault']): Scheduler {
    return new Scheduler(this.#store, {
      ...this.#scheduled,
      worker,
      onFault,
      onFired: ({ type, ...event }) => {
        this.#events.emit('schedule.fired', event)
        const enqueued = { ids: event.ids, type, queue: undefined, isClaimed: false }
        if (event.ids.length > 0) this.#events.emit('job.enqueued', enqueued)
      },
      onScheduleFault: (event) => {
        this.#log.error({ jobKey: event.jobKey, tick: event.tick, err: event.error }, 'a schedule could not be served')
        this.#events.emit('schedule.fault', event)
      },
      onEdited: (jobKey) => this.#log.info({ jobKey }, 'an operator has changed this schedule'),
    })
  }

  #onReaped(worker: Worker, jobs: readonly Reaped[]): void {
    for (const { id, state } of jobs) this.#log.warn({ jobId: id, state }, 'a job was reaped from a dead worker')
    this.#events.emit('job.reaped', { jobs })
    worker.wake()
  }
}
