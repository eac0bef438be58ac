// A pipeline as the database takes it: JSON text of what was asked and of every step.

import { invalidOption } from '../domain/error/invalid-option.js'
import { commonOptions } from '../domain/job/enqueue-options.js'
import { canonicalKey } from '../domain/job/key.js'
import type { PipelineDefinition, StepOptions } from '../domain/pipeline/pipeline.js'
import { encodeInput } from '../domain/value/json.js'
import { type DescribedStep, describePipeline } from './builder.js'
import { wholeMemberText } from './member.js'

export interface GraphText {
  readonly pipeline: string
  readonly steps: string
  /** The queue and type of each step, and the step that undoes it. */
  readonly queues: readonly string[]
}

export async function graphText(definition: PipelineDefinition, given: unknown): Promise<GraphText> {
  const { name, onFailure } = definition
  const { steps, result } = await describePipeline(definition, given)
  const members = await Promise.all([...steps.values()].map((step) => stepText(definition, step)))
  const head = JSON.stringify({ name, on_failure: onFailure, ...(result !== undefined && { result }) })
  return {
    pipeline: `${head.slice(0, -1)},"input":${encodeInput(given ?? null, 'input')}}`,
    steps: `[${members.join(',')}]`,
    queues: [...new Set([...steps.values()].flatMap(queuesOf))],
  }
}

function queuesOf({ job, options: { queue, compensate } }: DescribedStep): string[] {
  return [queue ?? job.queue, ...(compensate ? [compensate.job.queue] : [])]
}

async function stepText({ name: pipeline, onFailure }: PipelineDefinition, step: DescribedStep): Promise<string> {
  const { name, job, input, after, options } = step
  if (job.keyPolicy === 'coalesce' && (job.key || options.key !== undefined)) {
    throw invalidOption(`key of step ${name}`, 'not coalescing: a step is always a job of its own', job.keyPolicy)
  }
  if (options.compensate && onFailure !== 'compensate') {
    throw invalidOption(`compensate of step ${name}`, `absent unless onFailure of ${pipeline} is compensate`, onFailure)
  }
  const wanted = jobOptions(options)
  const own = input.kind === 'given' ? await wholeMemberText(job, input.value(), wanted) : computedText(step, wanted)
  const head = JSON.stringify({ name, ...(after.length > 0 && { after }), ...compensation(options) })
  return `${head.slice(0, -1)},${own.slice(1)}`
}

/** A computed input is not known yet, so it cannot have a key. */
function computedText({ name, job, input, options }: DescribedStep, wanted: StepOptions): string {
  if (job.key && options.key === undefined) {
    throw invalidOption(
      `key of step ${name}`,
      'given as an option, since its input is computed when it runs',
      undefined,
    )
  }
  const { key, ...shared } = wanted
  return JSON.stringify({
    ...commonOptions(job, shared),
    ...(key !== undefined && { key: canonicalKey(key), key_policy: job.keyPolicy }),
    input: { 'holdfast.results': input.kind === 'computed' ? Object.keys(input.from) : [] },
  })
}

function compensation({ compensate }: StepOptions): object {
  return compensate ? { compensate: commonOptions(compensate.job, {}) } : {}
}

function jobOptions({ name: _, after: __, compensate: ___, ...options }: StepOptions): StepOptions {
  return options
}
