// Runs the handler of one claimed job to an Outcome. Never throws, never writes an outcome.

import { type ErrorCode, type HoldfastError, isHoldfastError } from '../../domain/error/errors.js'
import { acceptInput } from '../../domain/job/accept-input.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import { JobTimedOut } from '../../domain/run/abort-reasons.js'
import { describeFailure } from '../../domain/run/failure.js'
import { isNonRetryable, isRetryAfter } from '../../domain/run/handler-errors.js'
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
} from '../../domain/run/outcome.js'
import { encodeInput } from '../../domain/value/json.js'
import { readProperty } from '../../domain/value/read-property.js'
import type { LeasedCalls } from '../leased-calls.js'
import type { RunnableJob } from '../registry.js'
import { Cancellation } from './cancellation.js'
import type { RunSteps } from './durable-steps.js'
import { type OpenLog, RunContext, RunState } from './run-context.js'

export interface Run {
  readonly job: ClaimedJob
  /** Tells the handler to stop. If it then throws, the reason decides the outcome. */
  abort(reason: HoldfastError): void
}

/** Called once, after startRun() has returned. */
export type OnOutcome = (outcome: Outcome) => void

// A handler that ignores its signal keeps running, but its slot is freed after this time.
const IGNORED_MS = 5000

/** Calls back instead of returning a promise: each promise per job costs as much as a handler that does nothing. */
export function startRun(
  job: ClaimedJob,
  definition: RunnableJob,
  calls: LeasedCalls,
  openLog: OpenLog,
  onOutcome: OnOutcome,
): Run {
  const run = new HandlerRun(new RunState(job, new Cancellation(), calls, openLog), onOutcome)
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
    if (definition.schema) void this.#handleIfValid(definition)
    else this.#handle(definition, this.job.input)
  }

  abort(reason: HoldfastError): void {
    // ctx.complete ends the lease too, when the handler's transaction commits.
    if (!(this.#state.isCompleting && reason.code === 'LEASE_LOST')) this.#state.cancellation.request(reason)
  }

  async #handleIfValid(definition: RunnableJob): Promise<void> {
    const checked = await checkInput(definition, this.job.input).catch((thrown) => ({ thrown }))
    if ('thrown' in checked) this.#conclude(outcomeOfThrow(checked.thrown, this.#state.cancellation.reason))
    else if ('invalid' in checked) this.#conclude(failed(describeFailure(checked.invalid), { kind: 'never' }))
    else this.#handle(definition, checked.input)
  }

  #handle(definition: RunnableJob, input: unknown): void {
    try {
      const returned = definition.run(input, new RunContext(this.#state))
      if (isPromise(returned)) {
        const onThrow = (thrown: unknown) => this.#threw(thrown)
        // A thenable that is no promise might call back at once.
        Promise.resolve(returned).then((value) => this.#returned(value), onThrow)
        this.#state.cancellation.enforce(onThrow, IGNORED_MS)
      } else {
        queueMicrotask(() => this.#returned(returned))
      }
    } catch (thrown) {
      queueMicrotask(() => this.#threw(thrown))
    }
  }

  #returned(returned: unknown): void {
    if (this.#state.endOnce()) this.#conclude(outcomeOfReturn(returned))
  }

  #threw(thrown: unknown): void {
    if (this.#state.endOnce()) this.#conclude(outcomeOfThrow(thrown, this.#state.cancellation.reason))
  }

  /** Adds the jobs to follow, and waits for steps that still run. */
  #conclude(outcome: Outcome): void {
    const { next, steps, cancellation } = this.#state
    const whole = next === undefined || outcome.kind !== 'completed' ? outcome : completed(outcome.output, next)
    if (steps === undefined || whole.kind === 'lost') this.#end(whole)
    else void afterSteps(whole, steps, cancellation).then((last) => this.#end(last))
  }

  #end(outcome: Outcome): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#onOutcome(outcome)
  }
}

/** Waits for steps that still run when the handler has ended. A run that must wait is suspended, whatever the handler returned. */
async function afterSteps(outcome: Outcome, steps: RunSteps, cancellation: Cancellation): Promise<Outcome> {
  await cancellation.limit(steps.ended(), IGNORED_MS).catch(() => {})
  return steps.isSuspended ? suspended(steps.waits) : outcome
}

/** An input may be invalid after a deploy has changed the schema; no further attempt would make it valid. */
async function checkInput(
  { type, schema }: RunnableJob,
  given: unknown,
): Promise<{ input: unknown } | { invalid: unknown }> {
  try {
    return { input: acceptInput(type, await (schema as NonNullable<typeof schema>)['~standard'].validate(given)) }
  } catch (error) {
    if (isHoldfastError(error, 'INVALID_INPUT')) return { invalid: error }
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
    // The handler would return the same output again: a retry cannot help.
    return failed(describeFailure(error), { kind: 'never' })
  }
}

function outcomeOfThrow(thrown: unknown, reason: HoldfastError | undefined): Outcome {
  if (reason) return outcomeOfAbort(reason, thrown)
  if (isHoldfastError(thrown, 'LEASE_LOST')) return lost()
  const failure = describeFailure(thrown)
  if (isNonRetryable(thrown) || PERMANENT.some((code) => isHoldfastError(thrown, code)))
    return failed(failure, { kind: 'never' })
  if (isRetryAfter(thrown)) return failed(failure, { kind: 'after', delayMs: thrown.delayMs })
  return failed(failure)
}

// A further attempt would fail in the same way.
const PERMANENT: readonly ErrorCode[] = ['STEP_REPEATED', 'STEP_MISPLACED', 'EVENT_TIMEOUT']

/** The outcome of a run that was told to stop and ended by throwing. */
export function outcomeOfAbort(reason: HoldfastError, thrown: unknown): Outcome {
  const code: ErrorCode = reason.code
  if (code === 'SHUTDOWN') return released()
  if (code === 'TIMED_OUT') return failed(describeFailure(thrown === reason ? reason : timedOutBy(reason, thrown)))
  return lost()
}

function timedOutBy(reason: HoldfastError, thrown: unknown): JobTimedOut {
  return new JobTimedOut(reason.message, { cause: thrown })
}
