// The input of a step that is computed when it runs, from the definition in code and the stored outputs.

import { HoldfastError } from '../domain/error/errors.js'
import type { ClaimedJob } from '../domain/job/job.js'
import type { PipelineDefinition, Step, StepList } from '../domain/pipeline/pipeline.js'
import type { StepResult, StepResults } from '../domain/pipeline/step-results.js'
import { encodeInput } from '../domain/value/json.js'
import { type DescribedPipeline, type DescribedStep, describePipeline } from './builder.js'

/** What is stored as input of such a step names the steps it comes from. */
export function isComputed({ pipelineId, input }: ClaimedJob): boolean {
  if (pipelineId === null || typeof input !== 'object' || input === null) return false
  return 'holdfast.results' in input || 'holdfast.compensates' in input
}

/** Throws UNKNOWN_PIPELINE or UNKNOWN_STEP where this process has other definitions than the one that enqueued. */
export async function computeInput(
  definitions: ReadonlyMap<string, PipelineDefinition>,
  facts: StepResults,
  describe: (definition: PipelineDefinition, given: unknown) => Promise<DescribedPipeline> = describePipeline,
): Promise<unknown> {
  const definition = definitions.get(facts.pipeline)
  if (!definition) {
    throw new HoldfastError('UNKNOWN_PIPELINE', `no pipeline "${facts.pipeline}" is defined here`, {
      details: { received: facts.pipeline, known: [...definitions.keys()] },
    })
  }
  const { steps } = await describe(definition, facts.input)
  const step = steps.get(facts.compensates ?? facts.step)
  const input = step && (facts.compensates === null ? computed(definition, step, facts) : taken(step, facts))
  if (input === undefined) {
    throw new HoldfastError('UNKNOWN_STEP', `pipeline "${facts.pipeline}" has no such step "${facts.step}" here`, {
      details: { pipeline: facts.pipeline, step: facts.step },
    })
  }
  // As an input that was stored and read back.
  return JSON.parse(encodeInput(input.value, 'input'))
}

function computed({ onFailure }: PipelineDefinition, { input }: DescribedStep, { results }: StepResults) {
  if (input.kind !== 'computed') return undefined
  const seen = (name: string) => {
    const result = results[name] as StepResult
    return onFailure === 'continue' ? result : outputOf(result)
  }
  const resultsOf = (step: Step | StepList) => ('names' in step ? step.names.map(seen) : seen(step.name))
  const entries = Object.entries(input.from).map(([key, step]) => [key, resultsOf(step)])
  return { value: input.compute(Object.fromEntries(entries)) }
}

function taken({ options }: DescribedStep, { compensates, results }: StepResults) {
  const result = results[compensates as string]
  return options.compensate && { value: options.compensate.input(outputOf(result)) }
}

function outputOf(result: StepResult | undefined): unknown {
  return result?.state === 'completed' ? result.output : undefined
}
