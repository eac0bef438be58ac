// Why a running handler must stop: each is the `reason` of its AbortSignal.

import { type ErrorCode, HoldfastError } from '../error/errors.js'

/** The handler ran past its timeout. */
export class JobTimedOut extends HoldfastError {
  declare readonly code: Extract<ErrorCode, 'TIMED_OUT'>
  constructor(message?: string, options?: ReasonOptions) {
    super('TIMED_OUT', message, options)
  }
}

/** Someone cancelled the job. */
export class JobCancelled extends HoldfastError {
  declare readonly code: Extract<ErrorCode, 'CANCELLED'>
  constructor(message?: string, options?: ReasonOptions) {
    super('CANCELLED', message, options)
  }
}

/** A newer job of the same key took its place. */
export class JobSuperseded extends HoldfastError {
  declare readonly code: Extract<ErrorCode, 'SUPERSEDED'>
  constructor(message?: string, options?: ReasonOptions) {
    super('SUPERSEDED', message, options)
  }
}

/** The lease ran out or another worker holds the job; nothing this run writes to the job is accepted any more. */
export class LeaseLost extends HoldfastError {
  declare readonly code: Extract<ErrorCode, 'LEASE_LOST'>
  constructor(message?: string, options?: ReasonOptions) {
    super('LEASE_LOST', message, options)
  }
}

/** The worker is stopping and its grace is over; the job goes back to the queue. */
export class Shutdown extends HoldfastError {
  declare readonly code: Extract<ErrorCode, 'SHUTDOWN'>
  constructor(message?: string, options?: ReasonOptions) {
    super('SHUTDOWN', message, options)
  }
}

type ReasonOptions = ConstructorParameters<typeof HoldfastError>[2]
