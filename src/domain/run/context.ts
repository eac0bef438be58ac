// What a handler gets beside its input.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ClaimedJob } from '../job/job.js'
import type { Duration } from '../value/duration.js'

/** What `ctx.tx` hands out unless the option `transaction` says otherwise: the `pg` client of an open transaction. */
export interface Transaction {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}

/**
 * How an application's own library begins a transaction, as in `(work) => db.transaction(work)`. It hands its transaction to
 * `work`, commits when `work` is done and rolls back when it throws.
 */
export type BeginTransaction = (work: (tx: unknown) => Promise<void>) => Promise<unknown>

/** Takes what a pino logger takes. */
export interface Logger {
  debug(fields: object, message?: string): void
  info(fields: object, message?: string): void
  warn(fields: object, message?: string): void
  error(fields: object, message?: string): void
}

/** A job of `defineJob`, as far as its input matters. */
export interface ChainableJob<Given> {
  readonly type: string
  readonly schema: StandardSchemaV1<Given, unknown> | undefined
}

export interface ChainOptions {
  readonly queue?: string
  readonly priority?: number
  readonly delay?: Duration
  readonly maxAttempts?: number
  readonly tags?: readonly string[]
}

/** Take parts out of it by name as you like; a spread (`{ ...ctx }`) copies none of them. */
export interface JobContext {
  readonly job: Omit<ClaimedJob, 'input' | 'facts'>
  /** Aborts when the run must stop; its reason says why: TIMED_OUT, CANCELLED, SUPERSEDED, LEASE_LOST or SHUTDOWN. */
  readonly signal: AbortSignal
  readonly log: Logger
  /**
   * Reports the progress, 0 to 1, with a line for people. Rejects with LEASE_LOST when another worker holds the job, and with
   * INVALID_OPTION for what is no number.
   */
  progress(share: number, message?: string): Promise<void>
  /**
   * One transaction of the job's own database that begins by asserting the lease: if this worker has lost the job, nothing
   * `work` writes takes effect. With the option `transaction` it is one of your own library: name its type at `work`.
   */
  tx<T, Tx = Transaction>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Completes the job inside `tx`, of whichever library: what was written there and the completion take effect together,
   * once. Rejects with LEASE_LOST when another holds the job.
   */
  complete(tx: unknown, output?: unknown): Promise<void>
  /**
   * Enqueues a job that follows this one, in the same pipeline, with its completion: both take effect or neither. Resolves
   * when the input has been looked at; a run that does not complete enqueues nothing.
   */
  chain<Given>(job: ChainableJob<Given>, input: NoInfer<Given>, options?: ChainOptions): Promise<void>
  /**
   * Runs `work` and stores its output as JSON; later attempts of the job get that and do not run it again. Each name
   * once in a run, else STEP_REPEATED.
   */
  step<T>(name: string, work: () => T | Promise<T>): Promise<T>
  /**
   * Frees the slot and goes on after `duration`: the handler starts again and gets the stored outputs of its steps. Sleeps
   * without a name are distinguished by their order.
   */
  sleep(duration: Duration, options?: { readonly name?: string }): Promise<void>
  /**
   * Frees the slot until the event is emitted, and returns its payload; at once if it was emitted before. Throws
   * EVENT_TIMEOUT when it did not come within `timeout` (default ten years).
   */
  waitFor<T = unknown>(event: string, options?: { readonly timeout?: Duration; readonly name?: string }): Promise<T>
}
