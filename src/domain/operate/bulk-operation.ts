// One operation on all jobs of a filter.

import type { Failure } from '../run/failure.js'
import type { CappedCount } from './page.js'

export const BULK_OPERATIONS = ['retry', 'cancel'] as const
export const BULK_STATES = ['open', 'completed', 'cancelled'] as const
export type BulkOperationName = (typeof BULK_OPERATIONS)[number]

/** One operation on all jobs of a filter, done in small steps by any worker. */
export interface BulkOperation {
  readonly id: string
  readonly operation: BulkOperationName
  /** The filter as stored, its spans of time turned into moments. */
  readonly filter: Readonly<Record<string, unknown>>
  readonly reason: string | null
  readonly askedBy: string
  readonly askedAt: Date
  readonly state: (typeof BULK_STATES)[number]
  /** Jobs that matched when it was asked for. */
  readonly expected: CappedCount
  readonly done: number
  /** Jobs that were no longer in a state for the operation when their turn came. */
  readonly skipped: number
  /** Jobs on which the operation failed; the last failure is in `error`. */
  readonly failed: number
  readonly error: Failure | null
  readonly finishedAt: Date | null
}
