// What a handler gets beside its input.

import type { JobContext, Logger, Transaction } from '../domain/context.js'
import type { JobDefinition } from '../domain/definition.js'
import { HoldfastError } from '../domain/errors.js'
import type { ClaimedJob } from '../domain/job.js'
import { encodeInput, LIMITS, sanitizeText } from '../domain/json.js'
import { wholeMemberText } from '../pipeline/member.js'
import { RunSteps, type StepDeeds } from './run-steps.js'
import type { StopWord } from './stop-word.js'

/** What a run may do to its job while it runs; each write presents the lease. */
export interface LeasedDeeds extends StepDeeds {
  progress(job: ClaimedJob, share: number, message: string | null): Promise<boolean>
  tx<T>(job: ClaimedJob, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** `next` is the JSON array of jobs to follow. */
  complete(job: ClaimedJob, tx: Transaction, output: string, next: string | undefined): Promise<void>
}

export interface OpenContext {
  readonly ctx: JobContext
  isCompleting(): boolean
  /** The JSON array of jobs to follow; undefined when there are none. */
  next(): string | undefined
  /** undefined while the handler has asked for none. */
  steps(): RunSteps | undefined
}

/** Closures and no methods: handlers take the parts out of it. */
export function runContext(job: ClaimedJob, stop: StopWord, deeds: LeasedDeeds, openLog: () => Logger): OpenContext {
  let log: Logger | undefined
  let isCompleting = false
  let openTransactions = 0
  let latest: [number, string | undefined] | undefined
  let steps: RunSteps | undefined
  const chained: string[] = []
  const next = () => (chained.length > 0 ? `[${chained.join(',')}]` : undefined)
  const openSteps = (what: string): RunSteps => {
    // The open transaction has the lease row locked: what a step came to could not be written before it ends.
    if (openTransactions > 0) {
      throw new HoldfastError('STEP_MISPLACED', `ctx.${what} was called while ctx.tx is open: call it before or after`)
    }
    steps ??= new RunSteps(job, stop, deeds)
    return steps
  }
  const report = async (share: number, message: string | undefined) => {
    const line = message === undefined ? null : sanitizeText(String(message), LIMITS.reasonBytes)
    if (await deeds.progress(job, share, line)) return
    throw new HoldfastError('LEASE_LOST', `job ${job.id} is no longer held by this run`, { details: { jobId: job.id } })
  }
  const ctx: JobContext = {
    get job() {
      const { input: _, ...facts } = job
      return facts
    },
    get signal() {
      return stop.signal
    },
    get log() {
      log ??= openLog()
      return log
    },
    async progress(share, message) {
      if (steps?.isSuspended) return steps.endHere()
      // The run's own transaction has its lease row locked: what is told meanwhile is written when it ends.
      if (openTransactions > 0) latest = [share, message]
      else await report(share, message)
    },
    async tx(work) {
      if (steps?.isSuspended) return steps.endHere()
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
    async complete(tx, output) {
      if (steps?.isSuspended) return steps.endHere()
      isCompleting = true
      return deeds.complete(job, tx, encodeInput(output, 'output'), next())
    },
    async chain(following, input, options = {}) {
      if (steps?.isSuspended) return steps.endHere()
      if (isCompleting)
        throw new HoldfastError('INVALID_OPTION', 'call ctx.chain before ctx.complete, which ends the job')
      chained.push(await wholeMemberText(following as JobDefinition, input, options))
    },
    step: (name, work) => unwatched(async () => openSteps('step').step(name, work)),
    sleep: (duration, options) => unwatched(async () => openSteps('sleep').sleep(duration, options?.name)),
    waitFor: (event, options) =>
      unwatched(async () => openSteps('waitFor').waitFor(event, options?.timeout, options?.name)),
  }
  return { ctx, isCompleting: () => isCompleting, next, steps: () => steps }
}

/** A handler that has ended looks at none of its steps any more: one that fails then must not end the process. */
function unwatched<T>(work: () => Promise<T>): Promise<T> {
  const promise = work()
  promise.catch(() => {})
  return promise
}
