// Runs one claimed job to an Outcome. Never throws, never settles.

import { JobTimedOut } from '../domain/abort-reasons.js'
import { acceptInput } from '../domain/accept-input.js'
import type { JobContext, Logger, Transaction } from '../domain/context.js'
import { type ErrorCode, HoldfastError, isHoldfastError } from '../domain/errors.js'
import { describeFailure } from '../domain/failure.js'
import { isNonRetryable, isRetryAfter } from '../domain/handler-errors.js'
import type { ClaimedJob } from '../domain/job.js'
import { encodeInput } from '../domain/json.js'
import { LIMITS } from '../domain/limits.js'
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
} from '../domain/outcome.js'
import { sanitizeText } from '../domain/text.js'
import type { RunnableJob } from './registry.js'

/** What a run may do to its job while it runs; each presents the lease. */
export interface LeasedDeeds {
  progress(job: ClaimedJob, share: number, message: string | null): Promise<boolean>
  tx<T>(job: ClaimedJob, work: (tx: Transaction) => Promise<T>): Promise<T>
  complete(job: ClaimedJob, tx: Transaction, output: string): Promise<void>
}

export interface Run {
  readonly job: ClaimedJob
  readonly outcome: Promise<Outcome>
  /** Tells the handler to stop; what the run comes to is then decided by the reason. */
  abort(reason: HoldfastError): void
}

// A handler that does not heed its signal keeps running, but its slot is not held for longer than this.
const UNHEEDED_MS = 5000

export function startRun(job: ClaimedJob, definition: RunnableJob, deeds: LeasedDeeds, log: Logger): Run {
  const controller = new AbortController()
  let isCompleting = false
  const abort = (reason: HoldfastError) => {
    // Its own completion, in the handler's transaction, takes the lease away too.
    if (!(isCompleting && reason.code === 'LEASE_LOST')) controller.abort(reason)
  }
  let openTransactions = 0
  let latest: [number, string | undefined] | undefined
  const report = async (share: number, message: string | undefined) => {
    const line = message === undefined ? null : sanitizeText(String(message), LIMITS.reasonBytes)
    if (await deeds.progress(job, share, line)) return
    throw new HoldfastError('LEASE_LOST', `job ${job.id} is no longer held by this run`, { details: { jobId: job.id } })
  }
  const { input: _, ...facts } = job
  const ctx: JobContext = {
    job: facts,
    signal: controller.signal,
    log,
    async progress(share, message) {
      // The run's own transaction has its lease row locked: what is told meanwhile is written when it ends.
      if (openTransactions > 0) latest = [share, message]
      else await report(share, message)
    },
    async tx(work) {
      openTransactions += 1
      try {
        return await deeds.tx(job, work)
      } finally {
        openTransactions -= 1
        const told = latest
        latest = undefined
        if (told && openTransactions === 0 && !isCompleting) await report(...told)
      }
    },
    complete(tx, output) {
      isCompleting = true
      return deeds.complete(job, tx, encodeInput(output, 'output'))
    },
  }
  return { job, abort, outcome: run(job, definition, ctx, abort) }
}

async function run(
  job: ClaimedJob,
  definition: RunnableJob,
  ctx: JobContext,
  abort: (reason: HoldfastError) => void,
): Promise<Outcome> {
  const { timeoutMs } = definition
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => abort(new JobTimedOut(`job ${job.id} ran longer than ${timeoutMs} ms`)), timeoutMs)
  try {
    const returned = await Promise.race([invoke(job, definition, ctx), unheeded(ctx.signal)])
    return outcomeOfReturn(returned)
  } catch (thrown) {
    return outcomeOfThrow(thrown, ctx.signal)
  } finally {
    clearTimeout(timer)
  }
}

async function invoke(job: ClaimedJob, definition: RunnableJob, ctx: JobContext): Promise<unknown> {
  const { schema, type } = definition
  const input = schema ? acceptInput(type, await schema['~standard'].validate(job.input)) : job.input
  return definition.run(input, ctx)
}

/** Rejects some time after the signal, for handlers that ignore it; never settles for those that are not told to stop. */
function unheeded(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => setTimeout(() => reject(signal.reason), UNHEEDED_MS).unref()
    signal.addEventListener('abort', give, { once: true })
  })
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

function outcomeOfThrow(thrown: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted) return outcomeOfAbort(signal.reason as HoldfastError, thrown)
  const failure = describeFailure(thrown)
  if (isHoldfastError(thrown, 'LEASE_LOST')) return lost()
  if (isNonRetryable(thrown) || isHoldfastError(thrown, 'INVALID_INPUT')) return failed(failure, { kind: 'never' })
  if (isRetryAfter(thrown)) return failed(failure, { kind: 'after', delayMs: thrown.delayMs })
  return failed(failure)
}

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
