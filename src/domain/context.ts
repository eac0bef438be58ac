// What a handler gets beside its input.

import type { ClaimedJob } from './job.js'

/** The user's own transaction, as far as Holdfast needs to know it. With `pg` it is the client itself. */
export interface Transaction {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}

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
   * `work` writes takes effect.
   */
  tx<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Completes the job inside `tx`: what was written there and the completion take effect together, once. */
  complete(tx: Transaction, output?: unknown): Promise<void>
}
