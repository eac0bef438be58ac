// Jobs and pipelines as a principal may see them: without redacted values, and without inputs if it lacks view_input.

import type { Explanation, Reason, ReasonCode } from '../domain/job/explanation.js'
import type { Job } from '../domain/job/job.js'
import type { Pipeline } from '../domain/pipeline/pipeline.js'
import type { StoredStep } from '../domain/run/durable-step.js'
import type { Caller } from './principal.js'
import type { Redaction } from './redaction.js'

const HIDDEN = ['input', 'output'] as const

/** Without view_input neither input nor output leaves; with it, what is redacted still does not. */
export function shownJob({ input, output, ...shown }: Job, caller: Caller, redaction: Redaction) {
  if (!caller.may('view_input')) return { ...shown, hidden: HIDDEN }
  const { type } = shown
  return { ...shown, input: redaction.apply(type, input), output: redaction.apply(type, output), hidden: [] }
}

/** What a handler remembers of its work is of the same kind as its output. */
export function shownStep({ output, ...shown }: StoredStep, type: string, caller: Caller, redaction: Redaction) {
  return caller.may('view_input') ? { ...shown, output: redaction.apply(type, output) } : shown
}

/** The input of a pipeline is of no type: what is redacted of any type is redacted here. */
export function shownPipeline({ input, jobs: _, ...shown }: Pipeline, caller: Caller, redaction: Redaction) {
  if (!caller.may('view_input')) return { ...shown, hidden: HIDDEN }
  return { ...shown, input: redaction.apply(undefined, input), hidden: [] }
}

export function shownResult(job: Job, caller: Caller, redaction: Redaction) {
  const { id: jobId, step, state, error, output, type } = job
  return { jobId, step, state, error, ...(caller.may('view_input') && { output: redaction.apply(type, output) }) }
}

/** These reasons name other jobs, queues and types. */
const OF_OTHERS: Readonly<Partial<Record<ReasonCode, string>>> = {
  WAITING_FOR_JOBS: 'it waits for other jobs of its pipeline',
  KEY_HELD: 'its key is held by another job',
  QUEUE_NOT_SERVED: 'no live worker serves its queue',
  TYPE_NOT_SERVED: 'no live worker of its queue has a handler for its type',
}

/** A principal that does not see all queues gets the reason without the names. */
export function shownExplanation(explanation: Explanation, caller: Caller): Explanation {
  if (caller.queues === undefined) return explanation
  const reasons = explanation.reasons.map((reason): Reason => {
    const text = OF_OTHERS[reason.code]
    return text === undefined ? reason : { code: reason.code, text, facts: {} }
  })
  const text = `job ${explanation.jobId}: ${reasons.map((reason) => reason.text).join('; ')}`
  return { ...explanation, reasons, text }
}
