// Runs one claimed job to an Outcome. Never throws, never settles.

import { JobTimedOut } from '../domain/abort-reasons.js'
import { acceptInput } from '../domain/accept-input.js'
import type { Logger } from '../domain/context.js'
import { type ErrorCode, type HoldfastError, isHoldfastError } from '../domain/errors.js'
import { describeFailure } from '../domain/failure.js'
import { isNonRetryable, isRetryAfter } from '../domain/handler-errors.js'
import type { ClaimedJob } from '../domain/job.js'
import { encodeInput } from '../domain/json.js'
import {
  cancelled,
  completed,
  failed,
  isCancel,
  isSnooze,
  lost,
  type Outcome,
  released,
  snoozed,
  suspended,
} from '../domain/outcome.js'
import { readProperty } from '../domain/read-property.js'
import type { RunnableJob } from './registry.js'
import { type LeasedDeeds, RunContext, RunState } from './run-context.js'
import type { RunSteps } from './run-steps.js'
import { StopWord } from './stop-word.js'

export interface Run {
  readonly job: ClaimedJob
  readonly outcome: Promise<Outcome>
  /** Tells the handler to stop; what the run comes to is then decided by the reason. */
  abort(reason: HoldfastError): void
}

// A handler that does not heed its signal keeps running, but its slot is not held for longer than this.
const UNHEEDED_MS = 5000

export function startRun(job: ClaimedJob, definition: RunnableJob, deeds: LeasedDeeds, openLog: () => Logger): Run {
  const stop = new StopWord()
  const state = new RunState(job, stop, deeds, openLog)
  const abort = (reason: HoldfastError) => {
    // Its own completion, in the handler's transaction, takes the lease away too.
    if (!(state.isCompleting && reason.code === 'LEASE_LOST')) stop.say(reason)
  }
  const { timeoutMs } = definition
  if (timeoutMs === undefined) return { job, abort, outcome: run(definition, state) }
  const timer = setTimeout(() => abort(new JobTimedOut(`job ${job.id} ran longer than ${timeoutMs} ms`)), timeoutMs)
  return { job, abort, outcome: run(definition, state).finally(() => clearTimeout(timer)) }
}

async function run(definition: RunnableJob, state: RunState): Promise<Outcome> {
  const { job, stop } = state
  let outcome: Outcome
  try {
    const checked = definition.schema ? await checkInput(definition, job.input) : { input: job.input }
    if ('misfit' in checked) return failed(describeFailure(checked.misfit), { kind: 'never' })
    const returned = definition.run(checked.input, new RunContext(state))
    outcome = outcomeOfReturn(isPromise(returned) ? await stop.heeded(returned, UNHEEDED_MS) : returned)
  } catch (thrown) {
    outcome = outcomeOfThrow(thrown, stop.reason)
  }
  outcome = followed(outcome, state.next)
  return state.steps === undefined || outcome.kind === 'lost' ? outcome : concluded(outcome, state.steps, stop)
}

function followed(outcome: Outcome, next: string | undefined): Outcome {
  return next === undefined || outcome.kind !== 'completed' ? outcome : completed(outcome.output, next)
}

/** Steps that still run beside a handler that has ended are waited for; a run that has to wait does so whatever it returned. */
async function concluded(outcome: Outcome, steps: RunSteps, stop: StopWord): Promise<Outcome> {
  await stop.heeded(steps.ended(), UNHEEDED_MS).catch(() => {})
  return steps.isSuspended ? suspended(steps.waits) : outcome
}

/** What was enqueued may no longer fit after a deploy; no further attempt would make it fit. */
async function checkInput(
  { type, schema }: RunnableJob,
  given: unknown,
): Promise<{ input: unknown } | { misfit: unknown }> {
  try {
    return { input: acceptInput(type, await (schema as NonNullable<typeof schema>)['~standard'].validate(given)) }
  } catch (error) {
    if (isHoldfastError(error, 'INVALID_INPUT')) return { misfit: error }
    throw error
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof readProperty(value, 'then') === 'function'
}

function outcomeOfReturn(returned: unknown): Outcome {
  if (isSnooze(returned)) return snoozed(returned.delayMs)
  if (isCancel(returned)) return cancelled(returned.reason)
  try {
    return completed(encodeInput(returned, 'output'))
  } catch (error) {
    // The same handler would return the same again: trying again cannot help.
    return failed(describeFailure(error), { kind: 'never' })
  }
}

function outcomeOfThrow(thrown: unknown, reason: HoldfastError | undefined): Outcome {
  if (reason) return outcomeOfAbort(reason, thrown)
  if (isHoldfastError(thrown, 'LEASE_LOST')) return lost()
  const failure = describeFailure(thrown)
  if (isNonRetryable(thrown) || FOR_GOOD.some((code) => isHoldfastError(thrown, code)))
    return failed(failure, { kind: 'never' })
  if (isRetryAfter(thrown)) return failed(failure, { kind: 'after', delayMs: thrown.delayMs })
  return failed(failure)
}

// A replay would come to the same again.
const FOR_GOOD: readonly ErrorCode[] = ['STEP_REPEATED', 'STEP_MISPLACED', 'EVENT_TIMEOUT']

/** What a run that was told to stop comes to, if it ended by throwing. */
export function outcomeOfAbort(reason: HoldfastError, thrown: unknown): Outcome {
  const code: ErrorCode = reason.code
  if (code === 'SHUTDOWN') return released()
  if (code === 'TIMED_OUT') return failed(describeFailure(thrown === reason ? reason : timedOutBy(reason, thrown)))
  return lost()
}

function timedOutBy(reason: HoldfastError, thrown: unknown): JobTimedOut {
  return new JobTimedOut(reason.message, { cause: thrown })
}
