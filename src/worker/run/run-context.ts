// What a handler gets beside its input, and the state of its run.

import { HoldfastError } from '../../domain/error/errors.js'
import { invalidOption } from '../../domain/error/invalid-option.js'
import type { JobDefinition } from '../../domain/job/definition.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { JobContext, Logger } from '../../domain/run/context.js'
import { encodeInput, LIMITS, sanitizeText } from '../../domain/value/json.js'
import { wholeMemberText } from '../../pipeline/member.js'
import type { LeasedCalls } from '../leased-calls.js'
import type { Cancellation } from './cancellation.js'
import { RunSteps } from './durable-steps.js'

/** Most handlers log nothing: the logger of a job is made for its first line. */
export type OpenLog = (job: ClaimedJob) => Logger

/**
 * The handler's side. Handlers destructure it, so each member is a function of its own. Members are made on first use: making
 * all of them would cost more than a short handler.
 */
export class RunContext implements JobContext {
  readonly #run: RunState

  constructor(run: RunState) {
    this.#run = run
  }

  get job(): JobContext['job'] {
    const { input: _, ...rest } = this.#run.job
    return rest
  }

  get signal(): AbortSignal {
    return this.#run.cancellation.signal
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
    return (name, work) => handled(async () => this.#run.openSteps('step').step(name, work))
  }

  get sleep(): JobContext['sleep'] {
    return (duration, options) => handled(async () => this.#run.openSteps('sleep').sleep(duration, options?.name))
  }

  get waitFor(): JobContext['waitFor'] {
    return (event, options) =>
      handled(async () => this.#run.openSteps('waitFor').waitFor(event, options?.timeout, options?.name))
  }
}

/** The worker's side. */
export class RunState {
  readonly job: ClaimedJob
  readonly cancellation: Cancellation
  readonly #calls: LeasedCalls
  readonly #openLog: OpenLog
  #log: Logger | undefined
  #isCompleting = false
  #isOver = false
  #openTransactions = 0
  #latest: [number, string | undefined] | undefined
  #chained: string[] | undefined
  #steps: RunSteps | undefined

  constructor(job: ClaimedJob, cancellation: Cancellation, calls: LeasedCalls, openLog: OpenLog) {
    this.job = job
    this.cancellation = cancellation
    this.#calls = calls
    this.#openLog = openLog
  }

  get log(): Logger {
    this.#log ??= this.#openLog(this.job)
    return this.#log
  }

  get isCompleting(): boolean {
    return this.#isCompleting
  }

  /** true the first time: a handler that ignored its signal may end after its run has ended. */
  endOnce(): boolean {
    const isFirst = !this.#isOver
    this.#isOver = true
    return isFirst
  }

  /** The JSON array of jobs to follow; undefined when there are none. */
  get next(): string | undefined {
    return this.#chained && `[${this.#chained.join(',')}]`
  }

  /** undefined while the handler has used none. */
  get steps(): RunSteps | undefined {
    return this.#steps
  }

  openSteps(what: string): RunSteps {
    // The open transaction has locked the lease row: the output of a step could not be stored before the transaction ends.
    if (this.#openTransactions > 0) {
      throw new HoldfastError('STEP_MISPLACED', `ctx.${what} was called while ctx.tx is open: call it before or after`)
    }
    this.#steps ??= new RunSteps(this.job, this.cancellation, this.#calls)
    return this.#steps
  }

  async progress(share: number, message: string | undefined): Promise<void> {
    if (typeof share !== 'number' || Number.isNaN(share)) throw invalidOption('progress', 'a number from 0 to 1', share)
    if (this.#steps?.isSuspended) return this.#steps.endHere()
    // The run's own transaction has locked the lease row: the latest progress is written when it ends.
    if (this.#openTransactions > 0) this.#latest = [share, message]
    else await this.#report(share, message)
  }

  async tx<T>(work: (tx: unknown) => Promise<T>): Promise<T> {
    if (this.#steps?.isSuspended) return this.#steps.endHere()
    this.#openTransactions += 1
    try {
      return await this.#calls.tx(this.job, work)
    } finally {
      this.#openTransactions -= 1
      const latest = this.#latest
      this.#latest = undefined
      if (latest && this.#openTransactions === 0 && !this.#isCompleting) await this.#report(...latest)
    }
  }

  async complete(tx: unknown, output: unknown): Promise<void> {
    if (this.#steps?.isSuspended) return this.#steps.endHere()
    this.#isCompleting = true
    return this.#calls.complete(this.job, tx, encodeInput(output, 'output'), this.next)
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
    if (await this.#calls.progress(this.job, share, line)) return
    throw new HoldfastError('LEASE_LOST', `job ${id} is no longer held by this run`, { details: { jobId: id } })
  }
}

/** A step that fails after its handler has ended must not end the process as an unhandled rejection. */
function handled<T>(work: () => Promise<T>): Promise<T> {
  const promise = work()
  promise.catch(() => {})
  return promise
}
