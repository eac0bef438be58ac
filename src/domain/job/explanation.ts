// Why a job does not run: the reasons by their constant codes. The database finds them and words them.

import type { JobId } from './job.js'

export const REASON_CODES = [
  'NOT_DUE',
  'RETRY_LATER',
  'SLEEPING',
  'WAITING_FOR_EVENT',
  'WAITING_FOR_JOBS',
  'QUEUE_PAUSED',
  'KEY_HELD',
  'RUNS_ALONE',
  'NO_WORKER',
  'QUEUE_NOT_SERVED',
  'TYPE_NOT_SERVED',
  'WORKERS_BUSY',
  'BEHIND_OTHERS',
  'DUE',
  'RUNNING',
  'LEASE_OVER',
  'ATTEMPTS_USED_UP',
  'FINISHED',
] as const
export type ReasonCode = (typeof REASON_CODES)[number]

export interface Reason {
  readonly code: ReasonCode
  /** A sentence for people. */
  readonly text: string
  /** The values in the sentence; moments as ISO texts. */
  readonly facts: Readonly<Record<string, unknown>>
}

export interface Explanation {
  readonly jobId: JobId
  /** Everything that prevents its start, or how it ended; at least one. */
  readonly reasons: readonly Reason[]
  /** The reasons' sentences in one text. */
  readonly text: string
  /** null when it is unknown. */
  readonly expectedStart: Date | null
}
