// What a handler gets beside its input.

import type { ClaimedJob } from './job.js'

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

export interface JobContext {
  readonly job: Omit<ClaimedJob, 'input'>
  /** Aborts when the run must stop; its reason says why: TIMED_OUT, CANCELLED, SUPERSEDED, LEASE_LOST or SHUTDOWN. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Tells how far the job is, 0 to 1, with a line for people. Rejects with LEASE_LOST when another holds the job. */
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
}
