// What any application may ask of its jobs. No background work.

import type { JobDefinition, KeyValue } from '../domain/job/definition.js'
import type { Explanation } from '../domain/job/explanation.js'
import { type AnyJobId, checkLabel, checkQueueName, type Job, type JobState, toJobId } from '../domain/job/job.js'
import { checkPipelineId } from '../domain/job/job-filter.js'
import { canonicalKey } from '../domain/job/key.js'
import type { PipelineDefinition } from '../domain/pipeline/pipeline.js'
import type { StoredStep } from '../domain/run/durable-step.js'
import type { ScheduleDefinition } from '../domain/schedule/define-schedule.js'
import { type Duration, durationMs } from '../domain/value/duration.js'
import { positiveNumber } from '../domain/value/environment.js'
import { encodeInput, LIMITS } from '../domain/value/json.js'
import type { EventHub } from '../observe/events.js'
import type { Instrument } from '../observe/instrument.js'
import { type EmittedEvent, emitEvent, readSteps } from '../store/jobs/durable-steps.js'
import { readLogs, type StoredLogLine } from '../store/jobs/logs.js'
import { cancelJob, findJob, pauseQueue, recoverJob, resumeQueue, retryJob } from '../store/jobs/operator-calls.js'
import { explainJob } from '../store/reads/explain.js'
import { currentJob, keyHistory } from '../store/reads/keys.js'
import type { Store } from '../store/store.js'
import { type Measures, readMeasures } from './measures.js'
import { Operator } from './operator.js'
import { checkNumber, limitOf } from './page-options.js'
import { type PipelineHandle, pipelineHandle } from './pipeline-handle.js'
import { type OperatorOptions, Producer, transactionOf } from './producer.js'
import { Schedules } from './schedules.js'

export class Client<Jobs extends readonly JobDefinition[] = readonly JobDefinition[]> extends Producer<Jobs> {
  readonly #store: Store
  readonly #events: EventHub
  readonly schedules: Schedules
  /** Lists, statistics and bulk operations, for dashboards and scripts. */
  readonly operator: Operator

  constructor(
    store: Store,
    events: EventHub,
    definitions: Jobs,
    schedules: readonly ScheduleDefinition[] = [],
    pipelines: readonly PipelineDefinition[] = [],
    instrument?: Instrument,
  ) {
    super(store, events, definitions, pipelines, instrument)
    this.#store = store
    this.#events = events
    this.schedules = new Schedules(store, this.definitions, schedules)
    this.operator = new Operator(store)
  }

  /** The types that are defined here. */
  get types(): readonly string[] {
    return [...this.definitions.keys()]
  }

  /** A pipeline by its id, also one of chained jobs. The database is asked at the first use of the handle. */
  pipeline(id: string): PipelineHandle {
    return pipelineHandle(this.#store, this.#events, checkPipelineId(id))
  }

  /** undefined when the job does not exist or was pruned. */
  async find(id: AnyJobId, options: { tx?: unknown } = {}): Promise<Job | undefined> {
    return findJob(this.#store, toJobId(id), transactionOf(options))
  }

  /** Returns the state the job was in. A running job loses its lease at once, and its handler's signal is aborted. */
  async cancel(id: AnyJobId, options: OperatorOptions & { reason?: string } = {}): Promise<JobState> {
    const { reason = null, actor = null } = options
    return cancelJob(this.#store, toJobId(id), { reason, actor }, transactionOf(options))
  }

  /** Gives a finished job new attempts and makes it due now. Returns the state it was in. */
  async retry(id: AnyJobId, options: OperatorOptions = {}): Promise<JobState> {
    return retryJob(this.#store, toJobId(id), options.actor ?? null, transactionOf(options))
  }

  /**
   * Takes a running job from a stuck holder: it gets new attempts and is due now, and the holder loses its lease. Refused
   * with NOT_STALE when it was claimed less than `stale` ago (STALE_JOB_TIMEOUT_MINUTES, default 30 minutes).
   */
  async recover(id: AnyJobId, options: OperatorOptions & { stale?: Duration } = {}): Promise<void> {
    const stale = options.stale ?? positiveNumber(process.env, 'STALE_JOB_TIMEOUT_MINUTES', 30) * 60_000
    await recoverJob(
      this.#store,
      toJobId(id),
      durationMs(stale, 'stale'),
      options.actor ?? null,
      transactionOf(options),
    )
  }

  /** Says why the job does not run, or how it ended, and when it is expected to start. */
  async explain(id: AnyJobId, options: { tx?: unknown } = {}): Promise<Explanation> {
    return explainJob(this.#store, toJobId(id), transactionOf(options))
  }

  /** The durable steps, sleeps and waits of the job, oldest first. */
  async steps(id: AnyJobId): Promise<StoredStep[]> {
    return readSteps(this.#store, toJobId(id))
  }

  /**
   * Emits an event for all handlers that wait for it, now or later (`ctx.waitFor`). The first payload of an event is kept:
   * `isFirst` is false for every later one. With `tx` it is emitted if and only if that commits.
   */
  async emit(event: string, payload: unknown = null, options: { tx?: unknown } = {}): Promise<EmittedEvent> {
    checkLabel('event', event, LIMITS.labelBytes)
    return emitEvent(this.#store, event, encodeInput(payload, 'input'), transactionOf(options))
  }

  /** The lines that the job's handler logged, oldest first; `after` is the id of the last line already seen. */
  async logs(id: AnyJobId, options: { after?: string; limit?: number } = {}): Promise<StoredLogLine[]> {
    const { after = '0', limit = 1000 } = options
    return readLogs(this.#store, toJobId(id), checkNumber(after, 'after'), limitOf({ limit }, 1000))
  }

  /** The latest started job of a key. */
  async current(key: KeyValue): Promise<Job | undefined> {
    return currentJob(this.#store, canonicalKey(key))
  }

  /** The started jobs of a key, newest first. */
  async history(key: KeyValue, options: { limit?: number } = {}): Promise<Job[]> {
    return keyHistory(this.#store, canonicalKey(key), options.limit ?? 20)
  }

  /** false when the queue was paused already. Running jobs go on. */
  async pause(queue: string, options: { actor?: string } = {}): Promise<boolean> {
    return pauseQueue(this.#store, checkQueueName(queue), options.actor ?? null)
  }

  /** false when the queue was not paused. */
  async resume(queue: string, options: { actor?: string } = {}): Promise<boolean> {
    return resumeQueue(this.#store, checkQueueName(queue), options.actor ?? null)
  }

  /** Calls `heard` when there may be new work, on a connection of its own. Rejects where the database does not support it. */
  async listen(heard: () => void, lost: (error: Error) => void): Promise<{ close(): Promise<void> }> {
    const database = await this.#store.open()
    return database.listen(`${this.#store.schema}_wake`, heard, lost)
  }

  /** Queues, workers and schedules in numbers, counted as far as is cheap: for gauges that are read every few seconds. */
  async measure(): Promise<Measures> {
    return readMeasures(this.#store)
  }
}
