// The input of a step that is computed when it runs, from the definition in code and the stored outputs.

import { HoldfastError } from '../domain/error/errors.js'
import type { ClaimedJob } from '../domain/job/job.js'
import type { PipelineDefinition, Step, StepList } from '../domain/pipeline/pipeline.js'
import type { StepResult, StepResults } from '../domain/pipeline/step-results.js'
import { encodeInput } from '../domain/value/json.js'
import { type DescribedPipeline, type DescribedStep, describePipeline } from './builder.js'

/** The stored input of such a step names the steps whose results it needs. */
export function isComputed({ pipelineId, input }: ClaimedJob): boolean {
  if (pipelineId === null || typeof input !== 'object' || input === null) return false
  return 'holdfast.results' in input || 'holdfast.compensates' in input
}

/** Throws UNKNOWN_PIPELINE or UNKNOWN_STEP when this process lacks the definitions of the one that enqueued. */
export async function computeInput(
  definitions: ReadonlyMap<string, PipelineDefinition>,
  stored: StepResults,
  describe: (definition: PipelineDefinition, given: unknown) => Promise<DescribedPipeline> = describePipeline,
): Promise<unknown> {
  const definition = definitions.get(stored.pipeline)
  if (!definition) {
    throw new HoldfastError('UNKNOWN_PIPELINE', `no pipeline "${stored.pipeline}" is defined here`, {
      details: { received: stored.pipeline, known: [...definitions.keys()] },
    })
  }
  const { steps } = await describe(definition, stored.input)
  const step = steps.get(stored.compensates ?? stored.step)
  const input = step && (stored.compensates === null ? computed(definition, step, stored) : taken(step, stored))
  if (input === undefined) {
    throw new HoldfastError('UNKNOWN_STEP', `pipeline "${stored.pipeline}" has no such step "${stored.step}" here`, {
      details: { pipeline: stored.pipeline, step: stored.step },
    })
  }
  // The same value as an input that was stored and read back.
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
