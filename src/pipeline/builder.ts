// Runs a pipeline's build function and keeps what it described.

import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import { acceptInput } from '../domain/job/accept-input.js'
import type { JobDefinition } from '../domain/job/definition.js'
import { checkLabel } from '../domain/job/job.js'
import type { PipelineBuilder, PipelineDefinition, Step, StepList, StepOptions } from '../domain/pipeline/pipeline.js'
import { LIMITS } from '../domain/value/sizes.js'

/** The input of a step: given when the pipeline is described, or computed from results when the step runs. */
export type StepInput =
  | { readonly kind: 'given'; readonly value: () => unknown }
  | { readonly kind: 'computed'; readonly from: Refs; readonly compute: (results: object) => unknown }

type Refs = Readonly<Record<string, Step | StepList>>

export interface DescribedStep {
  readonly name: string
  readonly job: JobDefinition
  readonly input: StepInput
  readonly after: readonly string[]
  readonly options: StepOptions
}

export interface DescribedPipeline {
  readonly steps: ReadonlyMap<string, DescribedStep>
  /** The name of the step whose output is the result. */
  readonly result: string | undefined
}

/** Checks `given` by the pipeline's schema. Its transforms run here too, so that the given value can be stored unchanged. */
export async function describePipeline(definition: PipelineDefinition, given: unknown): Promise<DescribedPipeline> {
  const { name, schema } = definition
  const input = schema ? acceptInput(name, await schema['~standard'].validate(given)) : given
  const builder = new StepBook(name)
  const returned = definition.build(builder as PipelineBuilder, input)
  return { steps: builder.steps, result: builder.resultOf(returned) }
}

class StepBook {
  readonly steps = new Map<string, DescribedStep>()
  readonly #pipeline: string
  readonly #made = new Set<unknown>()

  constructor(pipeline: string) {
    this.#pipeline = pipeline
  }

  job(job: JobDefinition, second: unknown, third?: unknown, fourth?: StepOptions): Step {
    const isComputed = typeof third === 'function'
    const options = ((isComputed ? fourth : third) ?? {}) as StepOptions
    const name = this.#nameOf(job, options)
    const input: StepInput = isComputed
      ? { kind: 'computed', from: this.#refs(name, second), compute: third as (results: object) => unknown }
      : { kind: 'given', value: () => second }
    const before = input.kind === 'computed' ? Object.values(input.from).flatMap(namesOf) : []
    this.#add({ name, job, input, after: this.#after(before, options), options })
    return this.#handOut({ name })
  }

  map(
    items: readonly unknown[],
    job: JobDefinition,
    input: (item: unknown, index: number) => unknown,
    options: StepOptions = {},
  ): StepList {
    const name = this.#nameOf(job, options)
    if (!Array.isArray(items)) throw invalidOption(`items of ${name}`, 'a list', items)
    if (typeof input !== 'function') throw invalidOption(`input of ${name}`, 'a function of an item', input)
    const after = this.#after([], options)
    const names = items.map((item, index) => {
      const one = `${name}[${index}]`
      this.#add({ name: one, job, input: { kind: 'given', value: () => input(item, index) }, after, options })
      return one
    })
    return this.#handOut({ name, names })
  }

  resultOf(returned: unknown): string | undefined {
    if (returned === undefined) return undefined
    const step = returned as Step | StepList
    if (this.#made.has(step) && !('names' in step)) return step.name
    throw invalidOption(`what build of ${this.#pipeline} returns`, 'a step that p.job has made, or nothing', returned)
  }

  #nameOf(job: JobDefinition, options: StepOptions): string {
    if (typeof job?.type !== 'string') throw invalidOption(`a step of ${this.#pipeline}`, 'a job of defineJob', job)
    const name = checkLabel('name of a step', options.name ?? job.type, LIMITS.nameBytes)
    // Brackets mark the items of a map.
    if (name.endsWith(']')) throw invalidOption('name of a step', 'a text that does not end with ]', name)
    return name
  }

  #refs(name: string, refs: unknown): Refs {
    for (const [key, step] of Object.entries(refs as Refs)) {
      if (!this.#made.has(step)) throw invalidOption(`${key} of step ${name}`, 'a step of the same pipeline', step)
    }
    return refs as Refs
  }

  #after(before: readonly string[], { after = [] }: StepOptions): string[] {
    return [...new Set([...before, ...after.flatMap((step) => (typeof step === 'string' ? [step] : namesOf(step)))])]
  }

  #add(step: DescribedStep): void {
    if (this.steps.has(step.name)) {
      throw new HoldfastError('DUPLICATE_STEP', `two steps of ${this.#pipeline} are called "${step.name}": name one`, {
        details: { pipeline: this.#pipeline, step: step.name },
      })
    }
    this.steps.set(step.name, step)
  }

  #handOut<S extends Step | StepList>(step: S): S {
    const made = Object.freeze(step)
    this.#made.add(made)
    return made
  }
}

/** The names of the steps behind a value that p.job or p.map returned. */
export function namesOf(step: Step | StepList): readonly string[] {
  return 'names' in step ? step.names : [step.name]
}
