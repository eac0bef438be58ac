// Workers as they describe themselves, and as an operator sees them.

import type { JobId } from '../job/job.js'
import type { CappedCount } from './page.js'

/** What a worker says of itself when it registers. */
export interface WorkerDescription {
  readonly id: string
  readonly pod: string
  readonly pid: number
  readonly version: string
  readonly queues: readonly string[]
  readonly types: readonly string[]
  /** How many jobs it runs at once. */
  readonly concurrency: number
}

export interface WorkerView extends WorkerDescription {
  readonly startedAt: Date
  readonly heartbeatAt: Date
  /** Since its last heartbeat, by the database's clock. */
  readonly heartbeatAgeMs: number
  readonly rssBytes: number | null
  readonly running: CappedCount
  /** The latest claimed, at most 100. */
  readonly jobs: readonly JobId[]
}
