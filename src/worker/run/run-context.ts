// What a handler gets beside its input, and what its run has asked for so far.

import { HoldfastError } from '../../domain/error/errors.js'
import type { JobContext, Logger } from '../../domain/job/context.js'
import type { JobDefinition } from '../../domain/job/definition.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import { encodeInput, LIMITS, sanitizeText } from '../../domain/value/json.js'
import { wholeMemberText } from '../../pipeline/member.js'
import type { Cancellation } from './cancellation.js'
import { type DurableStepCalls, RunSteps } from './durable-steps.js'

/** What a run may do to its job while it runs; each write presents the lease. */
export interface LeasedCalls extends DurableStepCalls {
  progress(job: ClaimedJob, share: number, message: string | null): Promise<boolean>
  tx<T>(job: ClaimedJob, work: (tx: unknown) => Promise<T>): Promise<T>
  /** `next` is the JSON array of jobs to follow. */
  complete(job: ClaimedJob, tx: unknown, output: string, next: string | undefined): Promise<void>
}

/** Most handlers log nothing: a job's logger is made for its first line. */
export type OpenLog = (job: ClaimedJob) => Logger

/**
 * The handler's side. Handlers take parts out of it, so each part is a function of its own; it is made when it is asked for,
 * since making them all would cost more than a short handler does.
 */
export class RunContext implements JobContext {
  readonly #run: RunState

  constructor(run: RunState) {
    this.#run = run
  }

  get job(): JobContext['job'] {
    const { input: _, ...facts } = this.#run.job
    return facts
  }

  get signal(): AbortSignal {
    return this.#run.stop.signal
  }

  get log(): Logger {
    return this.#run.log
  }

  get progress(): JobContext['progress'] {
    return (share, message) => this.#run.progress(share, message)
  }

  get tx(): JobContext['tx'] {
    return <T, Tx>(work: (tx: Tx) => Promise<T>) => this.#run.tx((tx) => work(tx as Tx))
  }

  get complete(): JobContext['complete'] {
    return (tx, output) => this.#run.complete(tx, output)
  }

  get chain(): JobContext['chain'] {
    return async (following, input, options = {}) =>
      this.#run.chain(() => wholeMemberText(following as JobDefinition, input, options))
  }

  get step(): JobContext['step'] {
    return (name, work) => unwatched(async () => this.#run.openSteps('step').step(name, work))
  }

  get sleep(): JobContext['sleep'] {
    return (duration, options) => unwatched(async () => this.#run.openSteps('sleep').sleep(duration, options?.name))
  }

  get waitFor(): JobContext['waitFor'] {
    return (event, options) =>
      unwatched(async () => this.#run.openSteps('waitFor').waitFor(event, options?.timeout, options?.name))
  }
}

/** The worker's side. */
export class RunState {
  readonly job: ClaimedJob
  readonly stop: Cancellation
  readonly #operations: LeasedCalls
  readonly #openLog: OpenLog
  #log: Logger | undefined
  #isCompleting = false
  #isOver = false
  #openTransactions = 0
  #latest: [number, string | undefined] | undefined
  #chained: string[] | undefined
  #steps: RunSteps | undefined

  constructor(job: ClaimedJob, stop: Cancellation, operations: LeasedCalls, openLog: OpenLog) {
    this.job = job
    this.stop = stop
    this.#operations = operations
    this.#openLog = openLog
  }

  get log(): Logger {
    this.#log ??= this.#openLog(this.job)
    return this.#log
  }

  get isCompleting(): boolean {
    return this.#isCompleting
  }

  /** true the first time: a handler that was given up may still end, and comes to nothing then. */
  endOnce(): boolean {
    const isFirst = !this.#isOver
    this.#isOver = true
    return isFirst
  }

  /** The JSON array of jobs to follow; undefined when there are none. */
  get next(): string | undefined {
    return this.#chained && `[${this.#chained.join(',')}]`
  }

  /** undefined while the handler has asked for none. */
  get steps(): RunSteps | undefined {
    return this.#steps
  }

  openSteps(what: string): RunSteps {
    // The open transaction has the lease row locked: what a step came to could not be written before it ends.
    if (this.#openTransactions > 0) {
      throw new HoldfastError('STEP_MISPLACED', `ctx.${what} was called while ctx.tx is open: call it before or after`)
    }
    this.#steps ??= new RunSteps(this.job, this.stop, this.#operations)
    return this.#steps
  }

  async progress(share: number, message: string | undefined): Promise<void> {
    if (this.#steps?.isSuspended) return this.#steps.endHere()
    // The run's own transaction has its lease row locked: what is told meanwhile is written when it ends.
    if (this.#openTransactions > 0) this.#latest = [share, message]
    else await this.#report(share, message)
  }

  async tx<T>(work: (tx: unknown) => Promise<T>): Promise<T> {
    if (this.#steps?.isSuspended) return this.#steps.endHere()
    this.#openTransactions += 1
    try {
      return await this.#operations.tx(this.job, work)
    } finally {
      this.#openTransactions -= 1
      const told = this.#latest
      this.#latest = undefined
      if (told && this.#openTransactions === 0 && !this.#isCompleting) await this.#report(...told)
    }
  }

  async complete(tx: unknown, output: unknown): Promise<void> {
    if (this.#steps?.isSuspended) return this.#steps.endHere()
    this.#isCompleting = true
    return this.#operations.complete(this.job, tx, encodeInput(output, 'output'), this.next)
  }

  async chain(member: () => Promise<string>): Promise<void> {
    if (this.#steps?.isSuspended) return this.#steps.endHere()
    if (this.#isCompleting) {
      throw new HoldfastError('INVALID_OPTION', 'call ctx.chain before ctx.complete, which ends the job')
    }
    const text = await member()
    this.#chained ??= []
    this.#chained.push(text)
  }

  async #report(share: number, message: string | undefined): Promise<void> {
    const { id } = this.job
    const line = message === undefined ? null : sanitizeText(String(message), LIMITS.reasonBytes)
    if (await this.#operations.progress(this.job, share, line)) return
    throw new HoldfastError('LEASE_LOST', `job ${id} is no longer held by this run`, { details: { jobId: id } })
  }
}

/** A handler that has ended looks at none of its steps any more: one that fails then must not end the process. */
function unwatched<T>(work: () => Promise<T>): Promise<T> {
  const promise = work()
  promise.catch(() => {})
  return promise
}
