// Runs one claimed job to an Outcome. Never throws, never settles.

import { JobTimedOut } from '../domain/abort-reasons.js'
import { acceptInput } from '../domain/accept-input.js'
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
import { type LeasedDeeds, type OpenLog, RunContext, RunState } from './run-context.js'
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

export function startRun(job: ClaimedJob, definition: RunnableJob, deeds: LeasedDeeds, openLog: OpenLog): Run {
  return new HandlerRun(definition, new RunState(job, new StopWord(), deeds, openLog))
}

class HandlerRun implements Run {
  readonly job: ClaimedJob
  readonly outcome: Promise<Outcome>
  readonly #state: RunState

  constructor(definition: RunnableJob, state: RunState) {
    this.job = state.job
    this.#state = state
    const { timeoutMs } = definition
    this.outcome = timeoutMs === undefined ? run(definition, state) : this.#runInTime(definition, timeoutMs)
  }

  abort(reason: HoldfastError): void {
    // Its own completion, in the handler's transaction, takes the lease away too.
    if (!(this.#state.isCompleting && reason.code === 'LEASE_LOST')) this.#state.stop.say(reason)
  }

  #runInTime(definition: RunnableJob, ms: number): Promise<Outcome> {
    const timer = setTimeout(() => this.abort(new JobTimedOut(`job ${this.job.id} ran longer than ${ms} ms`)), ms)
    return run(definition, this.#state).finally(() => clearTimeout(timer))
  }
}

function run(definition: RunnableJob, state: RunState): Promise<Outcome> {
  if (!definition.schema) return handle(definition, state, state.job.input)
  return checkInput(definition, state.job.input).then(
    (checked) =>
      'misfit' in checked
        ? failed(describeFailure(checked.misfit), { kind: 'never' })
        : handle(definition, state, checked.input),
    (thrown) => concluded(outcomeOfThrow(thrown, state.stop.reason), state),
  )
}

/** One promise from the handler's to the outcome: for jobs that end at once, each further one costs as much as they do. */
function handle(definition: RunnableJob, state: RunState, input: unknown): Promise<Outcome> {
  return new Promise((resolve) => {
    const end = (returned: unknown) => {
      if (state.endOnce()) resolve(concluded(outcomeOfReturn(returned), state))
    }
    const endByThrow = (thrown: unknown) => {
      if (state.endOnce()) resolve(concluded(outcomeOfThrow(thrown, state.stop.reason), state))
    }
    try {
      const returned = definition.run(input, new RunContext(state))
      if (!isPromise(returned)) return end(returned)
      returned.then(end, endByThrow)
      state.stop.enforce(endByThrow, UNHEEDED_MS)
    } catch (thrown) {
      endByThrow(thrown)
    }
  })
}

/** With what follows the job, and after the steps that it has asked for. */
function concluded(outcome: Outcome, { next, steps, stop }: RunState): Outcome | Promise<Outcome> {
  const whole = next === undefined || outcome.kind !== 'completed' ? outcome : completed(outcome.output, next)
  return steps === undefined || whole.kind === 'lost' ? whole : afterSteps(whole, steps, stop)
}

/** Steps that still run beside a handler that has ended are waited for; a run that has to wait does so whatever it returned. */
async function afterSteps(outcome: Outcome, steps: RunSteps, stop: StopWord): Promise<Outcome> {
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
