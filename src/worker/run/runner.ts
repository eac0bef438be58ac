// Runs one claimed job to an Outcome. Never throws, never settles.

import { type ErrorCode, type HoldfastError, isHoldfastError } from '../../domain/error/errors.js'
import { JobTimedOut } from '../../domain/job/abort-reasons.js'
import { acceptInput } from '../../domain/job/accept-input.js'
import { describeFailure } from '../../domain/job/failure.js'
import { isNonRetryable, isRetryAfter } from '../../domain/job/handler-errors.js'
import type { ClaimedJob } from '../../domain/job/job.js'
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
} from '../../domain/job/outcome.js'
import { encodeInput } from '../../domain/value/json.js'
import { readProperty } from '../../domain/value/read-property.js'
import type { RunnableJob } from '../registry.js'
import { Cancellation } from './cancellation.js'
import type { RunSteps } from './durable-steps.js'
import { type LeasedCalls, type OpenLog, RunContext, RunState } from './run-context.js'

export interface Run {
  readonly job: ClaimedJob
  /** Tells the handler to stop; what the run comes to is then decided by the reason. */
  abort(reason: HoldfastError): void
}

/** Hears what a run has come to: once, and never before the run was started. */
export type OnOutcome = (outcome: Outcome) => void

// A handler that does not heed its signal keeps running, but its slot is not held for longer than this.
const UNHEEDED_MS = 5000

/** Tells by a call and not by a promise: for jobs that end at once, each further promise costs as much as they do. */
export function startRun(
  job: ClaimedJob,
  definition: RunnableJob,
  operations: LeasedCalls,
  openLog: OpenLog,
  onOutcome: OnOutcome,
): Run {
  const run = new HandlerRun(new RunState(job, new Cancellation(), operations, openLog), onOutcome)
  run.start(definition)
  return run
}

class HandlerRun implements Run {
  readonly job: ClaimedJob
  readonly #state: RunState
  readonly #onOutcome: OnOutcome
  #timer: NodeJS.Timeout | undefined

  constructor(state: RunState, onOutcome: OnOutcome) {
    this.job = state.job
    this.#state = state
    this.#onOutcome = onOutcome
  }

  start(definition: RunnableJob): void {
    const { timeoutMs: ms } = definition
    if (ms !== undefined) {
      this.#timer = setTimeout(() => this.abort(new JobTimedOut(`job ${this.job.id} ran longer than ${ms} ms`)), ms)
    }
    if (definition.schema) void this.#handleIfItFits(definition)
    else this.#handle(definition, this.job.input)
  }

  abort(reason: HoldfastError): void {
    // Its own completion, in the handler's transaction, takes the lease away too.
    if (!(this.#state.isCompleting && reason.code === 'LEASE_LOST')) this.#state.stop.say(reason)
  }

  async #handleIfItFits(definition: RunnableJob): Promise<void> {
    const checked = await checkInput(definition, this.job.input).catch((thrown) => ({ thrown }))
    if ('thrown' in checked) this.#conclude(outcomeOfThrow(checked.thrown, this.#state.stop.reason))
    else if ('misfit' in checked) this.#conclude(failed(describeFailure(checked.misfit), { kind: 'never' }))
    else this.#handle(definition, checked.input)
  }

  #handle(definition: RunnableJob, input: unknown): void {
    const state = this.#state
    const end = (returned: unknown) => {
      if (state.endOnce()) this.#conclude(outcomeOfReturn(returned))
    }
    const endByThrow = (thrown: unknown) => {
      if (state.endOnce()) this.#conclude(outcomeOfThrow(thrown, state.stop.reason))
    }
    try {
      const returned = definition.run(input, new RunContext(state))
      if (isPromise(returned)) {
        // What only looks like a promise might call back at once.
        Promise.resolve(returned).then(end, endByThrow)
        state.stop.enforce(endByThrow, UNHEEDED_MS)
      } else {
        queueMicrotask(() => end(returned))
      }
    } catch (thrown) {
      queueMicrotask(() => endByThrow(thrown))
    }
  }

  /** With what follows the job, and after the steps that it has asked for. */
  #conclude(outcome: Outcome): void {
    const { next, steps, stop } = this.#state
    const whole = next === undefined || outcome.kind !== 'completed' ? outcome : completed(outcome.output, next)
    if (steps === undefined || whole.kind === 'lost') this.#tell(whole)
    else void afterSteps(whole, steps, stop).then((last) => this.#tell(last))
  }

  #tell(outcome: Outcome): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#onOutcome(outcome)
  }
}

/** Steps that still run beside a handler that has ended are waited for; a run that has to wait does so whatever it returned. */
async function afterSteps(outcome: Outcome, steps: RunSteps, stop: Cancellation): Promise<Outcome> {
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
