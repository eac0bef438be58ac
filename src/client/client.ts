// What any application may ask of its jobs. No background work.

import { HoldfastError } from '../domain/error/errors.js'
import {
  type GivenOf,
  indexByType,
  type JobDefinition,
  type KeyValue,
  type OutputOf,
} from '../domain/job/definition.js'
import type { StoredStep } from '../domain/job/durable-step.js'
import { type EnqueueManyOptions, type EnqueueOptions, NO_OPTIONS } from '../domain/job/enqueue-options.js'
import type { Explanation } from '../domain/job/explanation.js'
import {
  type AnyJobId,
  checkLabel,
  checkQueueName,
  type Job,
  type JobId,
  type JobState,
  toJobId,
} from '../domain/job/job.js'
import { checkPipelineId } from '../domain/job/job-filter.js'
import { canonicalKey } from '../domain/job/key.js'
import {
  indexByName,
  type PipelineDefinition,
  type PipelineGivenOf,
  type PipelineOutputOf,
} from '../domain/pipeline/pipeline.js'
import type { ScheduleDefinition } from '../domain/schedule/schedule.js'
import { type Duration, durationMs } from '../domain/value/duration.js'
import { positiveNumber } from '../domain/value/environment.js'
import { encodeInput, LIMITS } from '../domain/value/json.js'
import type { EventHub } from '../observe/events.js'
import type { Instrument } from '../observe/instrument.js'
import { graphText } from '../pipeline/graph.js'
import { type EmittedEvent, emitEvent, readSteps } from '../store/jobs/durable-steps.js'
import { readLogs, type StoredLogLine } from '../store/jobs/logs.js'
import { cancelJob, findJob, pauseQueue, recoverJob, resumeQueue, retryJob } from '../store/jobs/operator-calls.js'
import { enqueuePipeline } from '../store/jobs/pipelines.js'
import { explainJob } from '../store/reads/explain.js'
import { currentJob, keyHistory } from '../store/reads/keys.js'
import type { Store } from '../store/store.js'
import { asQueryable } from '../store/transaction.js'
import { enqueueMembers } from './enqueue.js'
import { type JobHandle, jobHandle } from './handle.js'
import { type Measures, readMeasures } from './measures.js'
import { Operator } from './operator.js'
import type { OwnWorker } from './own-worker.js'
import { type PipelineHandle, pipelineHandle } from './pipeline-handle.js'
import { Schedules } from './schedules.js'

export interface OperatorOptions {
  readonly tx?: unknown
  /** Who does it, for the audit; the database role by default. */
  readonly actor?: string
}

export interface EnqueuePipelineOptions extends OperatorOptions {
  /** The only queues that its steps, and what takes them back, may go to; FORBIDDEN otherwise. */
  readonly queues?: readonly string[]
}

type Named<Jobs extends readonly JobDefinition[], Type> = Extract<Jobs[number], { readonly type: Type }>

export class Client<Jobs extends readonly JobDefinition[] = readonly JobDefinition[]> {
  readonly #store: Store
  readonly #events: EventHub
  readonly #instrument: Instrument | undefined
  readonly schedules: Schedules
  /** What this program knows, by type. */
  readonly definitions: ReadonlyMap<string, JobDefinition>
  /** What this program knows, by name. */
  readonly pipelineDefinitions: ReadonlyMap<string, PipelineDefinition>
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
    this.#store = store
    this.#events = events
    this.#instrument = instrument
    this.definitions = indexByType(definitions)
    this.pipelineDefinitions = indexByName(pipelines)
    this.schedules = new Schedules(store, this.definitions, schedules)
    this.operator = new Operator(store)
  }

  /** The worker of this process, where one is at work. */
  protected ownWorker(): OwnWorker | undefined {
    return undefined
  }

  /** The types that are defined here. */
  get types(): readonly string[] {
    return [...this.definitions.keys()]
  }

  /** Stores one job, by its definition or by its type's name. With `tx` it exists if and only if that commits. */
  enqueue<J extends JobDefinition>(job: J, input: GivenOf<J>, options?: EnqueueOptions): Promise<JobHandle<OutputOf<J>>>
  enqueue<T extends Jobs[number]['type']>(
    type: T,
    input: GivenOf<Named<Jobs, T>>,
    options?: EnqueueOptions,
  ): Promise<JobHandle<OutputOf<Named<Jobs, T>>>>
  async enqueue(job: JobDefinition | string, input: unknown, options?: EnqueueOptions): Promise<JobHandle> {
    const [handle] = await this.#enqueueAll(job, [input], options ? optionsOfMany(options) : NO_OPTIONS)
    return handle as JobHandle
  }

  /** Stores many jobs of one type in one round trip, all or none. Handles come in the inputs' order. */
  enqueueMany<J extends JobDefinition>(
    job: J,
    inputs: readonly GivenOf<J>[],
    options?: EnqueueManyOptions<GivenOf<J>>,
  ): Promise<JobHandle<OutputOf<J>>[]>
  enqueueMany<T extends Jobs[number]['type']>(
    type: T,
    inputs: readonly GivenOf<Named<Jobs, T>>[],
    options?: EnqueueManyOptions<GivenOf<Named<Jobs, T>>>,
  ): Promise<JobHandle<OutputOf<Named<Jobs, T>>>[]>
  enqueueMany(
    job: JobDefinition | string,
    inputs: readonly unknown[],
    options?: EnqueueManyOptions<unknown>,
  ): Promise<JobHandle[]> {
    return this.#enqueueAll(job, inputs, options ?? NO_OPTIONS)
  }

  async #enqueueAll(
    job: JobDefinition | string,
    inputs: readonly unknown[],
    options: EnqueueManyOptions<unknown>,
  ): Promise<JobHandle[]> {
    const definition = this.#definitionOf(job)
    if (inputs.length === 0) return []
    const queue = options.queue ?? definition.queue
    const onStored = (ids: readonly JobId[], start?: () => void) => {
      // Inside a caller's transaction nothing has happened yet that others could act on.
      if (options.tx === undefined) {
        this.#events.emit('job.enqueued', { ids, type: definition.type, queue, isClaimed: start !== undefined })
      }
      start?.()
    }
    const send = (trace: string | undefined) => {
      const asked = trace === undefined ? options : { trace, ...options }
      return enqueueMembers(this.#store, definition, inputs, asked, this.ownWorker(), onStored)
    }
    const ids = this.#instrument
      ? await this.#instrument.enqueue({ type: definition.type, queue, jobs: inputs.length }, send)
      : await send(undefined)
    return ids.map((id) => jobHandle(this.#store, this.#events, id, definition.type))
  }

  /**
   * Stores all steps of a pipeline, or none, by its definition or by the name of one that this program knows. With `tx` they
   * exist if and only if that commits.
   */
  enqueuePipeline<P extends PipelineDefinition>(
    pipeline: P,
    input: PipelineGivenOf<P>,
    options?: EnqueuePipelineOptions,
  ): Promise<PipelineHandle<PipelineOutputOf<P>>>
  enqueuePipeline(name: string, input: unknown, options?: EnqueuePipelineOptions): Promise<PipelineHandle>
  async enqueuePipeline(
    pipeline: PipelineDefinition | string,
    input: unknown,
    options: EnqueuePipelineOptions = {},
  ): Promise<PipelineHandle> {
    const definition = this.#pipelineOf(pipeline)
    const tx = transactionOf(options)
    const graph = await graphText(definition, input)
    checkQueues(definition.name, graph.queues, options.queues)
    const manner = { wake: tx ? 'always' : 'sleepers', actor: options.actor, tx } as const
    const { id, resultJob } = await enqueuePipeline(this.#store, graph, manner)
    if (!tx) this.#events.emit('pipeline.enqueued', { id, name: definition.name })
    return pipelineHandle(this.#store, this.#events, id, resultJob)
  }

  /** A pipeline by its id, also one of jobs that were chained; whether it exists is asked when something is asked of it. */
  pipeline(id: string): PipelineHandle {
    return pipelineHandle(this.#store, this.#events, checkPipelineId(id))
  }

  /** undefined when there is no such job, or no longer. */
  async find(id: AnyJobId, options: { tx?: unknown } = {}): Promise<Job | undefined> {
    return findJob(this.#store, toJobId(id), transactionOf(options))
  }

  /** The state it was cancelled in. A running job is fenced at once and its handler signalled. */
  async cancel(id: AnyJobId, options: OperatorOptions & { reason?: string } = {}): Promise<JobState> {
    const { reason = null, actor = null } = options
    return cancelJob(this.#store, toJobId(id), { reason, actor }, transactionOf(options))
  }

  /** Gives a finished job fresh attempts and runs it now; the state it was in. */
  async retry(id: AnyJobId, options: OperatorOptions = {}): Promise<JobState> {
    return retryJob(this.#store, toJobId(id), options.actor ?? null, transactionOf(options))
  }

  /**
   * Takes a running job from a holder that is stuck: fresh attempts, run now, the holder fenced. Refused with NOT_STALE when
   * it was claimed less than `stale` ago (STALE_JOB_TIMEOUT_MINUTES, default 30 minutes).
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

  /** Says why the job does not run, or what became of it, and when it is expected to start. */
  async explain(id: AnyJobId, options: { tx?: unknown } = {}): Promise<Explanation> {
    return explainJob(this.#store, toJobId(id), transactionOf(options))
  }

  /** What the job's handler has remembered and what it waits for, oldest first. */
  async steps(id: AnyJobId): Promise<StoredStep[]> {
    return readSteps(this.#store, toJobId(id))
  }

  /**
   * Tells an event to all handlers that wait for it or will (`ctx.waitFor`). The first payload of an event stands: `isFirst`
   * is false for every later one. With `tx` it has happened if and only if that commits.
   */
  async emit(event: string, payload: unknown = null, options: { tx?: unknown } = {}): Promise<EmittedEvent> {
    checkLabel('event', event, LIMITS.labelBytes)
    return emitEvent(this.#store, event, encodeInput(payload, 'input'), transactionOf(options))
  }

  /** The lines that the job's handler logged, oldest first; `after` is the id of the last line already seen. */
  async logs(id: AnyJobId, options: { after?: string; limit?: number } = {}): Promise<StoredLogLine[]> {
    return readLogs(this.#store, toJobId(id), options.after ?? '0', options.limit ?? 1000)
  }

  /** The latest started job of a key. */
  async current(key: KeyValue): Promise<Job | undefined> {
    return currentJob(this.#store, canonicalKey(key))
  }

  /** The started jobs of a key, newest first. */
  async history(key: KeyValue, options: { limit?: number } = {}): Promise<Job[]> {
    return keyHistory(this.#store, canonicalKey(key), options.limit ?? 20)
  }

  /** false when it was paused already. What runs goes on. */
  async pause(queue: string, options: { actor?: string } = {}): Promise<boolean> {
    return pauseQueue(this.#store, checkQueueName(queue), options.actor ?? null)
  }

  /** false when it was not paused. */
  async resume(queue: string, options: { actor?: string } = {}): Promise<boolean> {
    return resumeQueue(this.#store, checkQueueName(queue), options.actor ?? null)
  }

  /** A hint that there may be more work than before; one connection of its own. Rejects where the database cannot. */
  async listen(heard: () => void, lost: (error: Error) => void): Promise<{ close(): Promise<void> }> {
    const database = await this.#store.open()
    return database.listen(`${this.#store.schema}_wake`, heard, lost)
  }

  /** What there is to do and who does it, counted as far as is cheap: for gauges that are read every few seconds. */
  async measure(): Promise<Measures> {
    return readMeasures(this.#store)
  }

  #definitionOf(job: JobDefinition | string): JobDefinition {
    if (typeof job === 'object' && job !== null) return job
    const definition = this.definitions.get(job)
    if (definition) return definition
    throw new HoldfastError('UNKNOWN_TYPE', `no job of type ${JSON.stringify(job)} is defined here`, {
      details: { received: job, known: [...this.definitions.keys()] },
    })
  }

  #pipelineOf(pipeline: PipelineDefinition | string): PipelineDefinition {
    if (typeof pipeline === 'object' && pipeline !== null) return pipeline
    const definition = this.pipelineDefinitions.get(pipeline)
    if (definition) return definition
    throw new HoldfastError('UNKNOWN_PIPELINE', `no pipeline ${JSON.stringify(pipeline)} is defined here`, {
      details: { received: pipeline, known: [...this.pipelineDefinitions.keys()] },
    })
  }
}

function optionsOfMany({ dedupeId, key, ...shared }: EnqueueOptions): EnqueueManyOptions<unknown> {
  return {
    ...shared,
    ...(dedupeId !== undefined && { dedupeId: () => dedupeId }),
    ...(key !== undefined && { key: () => key }),
  }
}

function checkQueues(name: string, queues: readonly string[], allowed: readonly string[] | undefined): void {
  if (allowed === undefined || queues.every((queue) => allowed.includes(queue))) return
  throw new HoldfastError('FORBIDDEN', `a step of pipeline ${name} goes to a queue that is not among those allowed`)
}

function transactionOf({ tx }: { tx?: unknown }) {
  return tx === undefined ? undefined : asQueryable(tx)
}
