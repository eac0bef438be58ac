// Enqueues jobs and pipelines that this program defines.

import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import { type GivenOf, indexByType, type JobDefinition, type OutputOf } from '../domain/job/definition.js'
import { type EnqueueManyOptions, type EnqueueOptions, NO_OPTIONS } from '../domain/job/enqueue-options.js'
import type { JobId } from '../domain/job/job.js'
import {
  indexByName,
  type PipelineDefinition,
  type PipelineGivenOf,
  type PipelineOutputOf,
} from '../domain/pipeline/pipeline.js'
import type { EventHub } from '../observe/events.js'
import type { Instrument } from '../observe/instrument.js'
import { graphText } from '../pipeline/graph.js'
import { enqueuePipeline } from '../store/jobs/pipelines.js'
import type { Store } from '../store/store.js'
import { asQueryable } from '../store/transaction.js'
import { enqueueMembers } from './enqueue.js'
import { type JobHandle, jobHandle } from './handle.js'
import type { OwnWorker } from './own-worker.js'
import { type PipelineHandle, pipelineHandle } from './pipeline-handle.js'

export interface OperatorOptions {
  readonly tx?: unknown
  /** Who does it, for the audit; the database role by default. */
  readonly actor?: string
}

export interface EnqueuePipelineOptions extends OperatorOptions {
  /** The only queues that its steps and compensations may use; FORBIDDEN otherwise. */
  readonly queues?: readonly string[]
}

type Named<Jobs extends readonly JobDefinition[], Type> = Extract<Jobs[number], { readonly type: Type }>

export class Producer<Jobs extends readonly JobDefinition[] = readonly JobDefinition[]> {
  readonly #store: Store
  readonly #events: EventHub
  readonly #instrument: Instrument | undefined
  /** The jobs that this program defines, by type. */
  readonly definitions: ReadonlyMap<string, JobDefinition>
  /** The pipelines that this program defines, by name. */
  readonly pipelineDefinitions: ReadonlyMap<string, PipelineDefinition>

  constructor(
    store: Store,
    events: EventHub,
    definitions: Jobs,
    pipelines: readonly PipelineDefinition[] = [],
    instrument?: Instrument,
  ) {
    this.#store = store
    this.#events = events
    this.#instrument = instrument
    this.definitions = indexByType(definitions)
    this.pipelineDefinitions = indexByName(pipelines)
  }

  /** The worker of this process; undefined while none runs. */
  protected ownWorker(): OwnWorker | undefined {
    return undefined
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
    if (!Array.isArray(inputs)) throw invalidOption('inputs', 'a list', inputs)
    if (inputs.length === 0) return []
    const queue = options.queue ?? definition.queue
    const onStored = (ids: readonly JobId[], start?: () => void) => {
      // Before the caller's transaction commits, the jobs do not exist for others.
      if (options.tx === undefined) {
        this.#events.emit('job.enqueued', { ids, type: definition.type, queue, isClaimed: start !== undefined })
      }
      start?.()
    }
    const send = (trace: string | undefined) => {
      const traced = trace === undefined ? options : { trace, ...options }
      return enqueueMembers(this.#store, definition, inputs, traced, this.ownWorker(), onStored)
    }
    const ids = this.#instrument
      ? await this.#instrument.enqueue({ type: definition.type, queue, jobs: inputs.length }, send)
      : await send(undefined)
    return ids.map((id) => jobHandle(this.#store, this.#events, id, definition.type))
  }

  /**
   * Stores all steps of a pipeline, or none, by its definition or by its name. With `tx` they
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

export function transactionOf({ tx }: { tx?: unknown }) {
  return tx === undefined ? undefined : asQueryable(tx)
}
