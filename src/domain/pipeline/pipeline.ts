// A pipeline as code defines it: its input, its steps, and what happens to the others when one fails.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { invalidOption } from '../error/invalid-option.js'
import type { GivenOf, JobDefinition, KeyValue, OutputOf } from '../job/definition.js'
import { checkLabel, type JobId, type JobState } from '../job/job.js'
import { LIMITS } from '../value/sizes.js'
import type { StepResult } from './step-results.js'

export const ON_FAILURE = ['stop', 'continue', 'compensate'] as const
/** stop: cancels the rest. continue: runs the rest, with the failure as a result. compensate: as stop, then undoes completed steps. */
export type OnFailure = (typeof ON_FAILURE)[number]

declare const OUTPUT: unique symbol

/** One step while a pipeline is built. */
export interface Step<Output = unknown> {
  readonly name: string
  readonly [OUTPUT]?: Output
}

/** The steps that `map` made, one per item. */
export interface StepList<Output = unknown> {
  readonly name: string
  readonly names: readonly string[]
  readonly [OUTPUT]?: Output
}

type Seen<Output, F extends OnFailure> = F extends 'continue' ? StepResult<Output> : Output

export type ResultsOf<R extends Readonly<Record<string, Step | StepList>>, F extends OnFailure> = {
  readonly [Name in keyof R]: R[Name] extends StepList<infer Output>
    ? readonly Seen<Output, F>[]
    : R[Name] extends Step<infer Output>
      ? Seen<Output, F>
      : never
}

export interface StepOptions<J extends JobDefinition = JobDefinition, C extends JobDefinition = JobDefinition> {
  /** Unique in the pipeline; the job's type by default. */
  readonly name?: string
  /** Further steps that must have ended before, whose results do not matter; by name also such that are described later. */
  readonly after?: readonly (Step | StepList | string)[]
  /** With `onFailure: 'compensate'`: the job that takes this step back once it has completed, given its output. */
  readonly compensate?: { readonly job: C; readonly input: (output: OutputOf<J>) => GivenOf<C> }
  readonly queue?: string
  readonly priority?: number
  readonly maxAttempts?: number
  readonly key?: KeyValue
  readonly tags?: readonly string[]
}

/** Describes steps. It runs when the pipeline is enqueued and again where an input is computed: the same input, the same steps. */
export interface PipelineBuilder<F extends OnFailure = OnFailure> {
  /** A step whose input is computed from the results of other steps when it runs. */
  job<J extends JobDefinition, R extends Readonly<Record<string, Step | StepList>>, C extends JobDefinition>(
    job: J,
    results: R,
    input: (results: ResultsOf<R, F>) => GivenOf<J>,
    options?: StepOptions<J, C>,
  ): Step<OutputOf<J>>
  job<J extends JobDefinition, C extends JobDefinition>(
    job: J,
    input: GivenOf<J>,
    options?: StepOptions<J, C>,
  ): Step<OutputOf<J>>
  /** A step per item, side by side. */
  map<Item, J extends JobDefinition, C extends JobDefinition>(
    items: readonly Item[],
    job: J,
    input: (item: Item, index: number) => GivenOf<J>,
    options?: StepOptions<J, C>,
  ): StepList<OutputOf<J>>
}

/** Methods on purpose, as in JobDefinition: a list of pipelines with different inputs is still a list of pipelines. */
export interface PipelineDefinition<Given = unknown, Output = unknown> {
  readonly name: string
  readonly schema: StandardSchemaV1<Given, unknown> | undefined
  readonly onFailure: OnFailure
  build(p: PipelineBuilder, input: unknown): Step<Output> | undefined
}

export type PipelineGivenOf<P> = P extends PipelineDefinition<infer Given, infer _O> ? Given : never
export type PipelineOutputOf<P> = P extends PipelineDefinition<infer _G, infer Output> ? Output : never

interface PipelineOptions<F extends OnFailure, Input, Returned> {
  readonly name: string
  /** Default `stop`. */
  readonly onFailure?: F
  /** The output of the step it returns is the pipeline's result. */
  readonly build: (p: PipelineBuilder<F>, input: Input) => Returned
}

// biome-ignore lint/suspicious/noConfusingVoidType: a build function without a return statement returns void
type ReturnedStep = Step | undefined | void
type ReturnedOutput<Returned> = Returned extends Step<infer Output> ? Output : undefined

export function definePipeline<Given, Input, Returned extends ReturnedStep, const F extends OnFailure = 'stop'>(
  options: PipelineOptions<F, Input, Returned> & { readonly input: StandardSchemaV1<Given, Input> },
): PipelineDefinition<Given, ReturnedOutput<Returned>>
export function definePipeline<Input, Returned extends ReturnedStep, const F extends OnFailure = 'stop'>(
  options: PipelineOptions<F, Input, Returned> & { readonly input?: undefined },
): PipelineDefinition<Input, ReturnedOutput<Returned>>
export function definePipeline(options: {
  readonly name: string
  readonly input?: StandardSchemaV1 | undefined
  readonly onFailure?: OnFailure
  readonly build: (p: never, input: never) => ReturnedStep
}): PipelineDefinition {
  const name = checkLabel('name of a pipeline', options.name, LIMITS.nameBytes)
  const { onFailure = 'stop', build, input } = options
  if (!ON_FAILURE.includes(onFailure)) throw invalidOption(`onFailure of ${name}`, ON_FAILURE.join(', '), onFailure)
  if (typeof build !== 'function') throw invalidOption(`build of ${name}`, 'a function that describes the steps', build)
  if (input !== undefined && typeof input?.['~standard']?.validate !== 'function') {
    throw invalidOption(`input of ${name}`, 'a Standard Schema, as Zod, Valibot and ArkType make them', input)
  }
  return Object.freeze({ name, schema: input, onFailure, build: build as unknown as PipelineDefinition['build'] })
}

/** Refuses two pipelines of one name: whose functions would compute an input would be chance. */
export function indexByName(definitions: readonly PipelineDefinition[]): ReadonlyMap<string, PipelineDefinition> {
  const byName = new Map<string, PipelineDefinition>()
  for (const definition of definitions) {
    if (byName.has(definition.name)) {
      throw invalidOption('pipelines', 'one definition per name', `two called ${definition.name}`)
    }
    byName.set(definition.name, definition)
  }
  return byName
}

export const PIPELINE_STATES = ['running', 'completed', 'failed', 'cancelled', 'superseded'] as const
export type PipelineState = (typeof PIPELINE_STATES)[number]

/** A pipeline as a reader sees it at one moment. */
export interface Pipeline {
  readonly id: string
  /** null for jobs that were chained one by one. */
  readonly name: string | null
  readonly input: unknown
  readonly onFailure: OnFailure | null
  readonly state: PipelineState
  /** How many of its jobs are in each state. */
  readonly jobs: Readonly<Record<JobState, number>>
  /** Those of its jobs. */
  readonly queues: readonly string[]
  readonly resultJob: JobId | null
  /** The first step that did not complete, where that stopped the rest. */
  readonly stoppedBy: JobId | null
  readonly stoppedAt: Date | null
  readonly compensatedAt: Date | null
  readonly createdAt: Date
}

export interface PipelineProgress extends Readonly<Record<JobState, number>> {
  readonly total: number
  /** How many of them have ended, 0 to 1. */
  readonly share: number
}

export function progressOf({ jobs }: Pick<Pipeline, 'jobs'>): PipelineProgress {
  const total = Object.values(jobs).reduce((sum, n) => sum + n, 0)
  return { ...jobs, total, share: total === 0 ? 1 : 1 - (jobs.waiting + jobs.pending + jobs.running) / total }
}
