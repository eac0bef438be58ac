// Queues, keys and the counts of the whole installation.

import type { JobId } from '../job/job.js'
import type { CappedCount } from './page.js'

/** A key: the job that holds it, and how many wait for it. Its history is a list of jobs with this key. */
export interface KeyView {
  readonly key: string
  /** The running job that holds it. */
  readonly holder: JobId | null
  /** The latest started job. */
  readonly current: JobId | null
  readonly currentSince: Date | null
  readonly pending: CappedCount
}

export interface QueueView {
  readonly name: string
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  /** Due, due later and parked. */
  readonly pending: CappedCount
  /** Of these, what could be claimed now. */
  readonly due: CappedCount
  /** Of these, what waits for the holder of its key. */
  readonly parked: CappedCount
  /** Jobs that come here when those before them in their pipeline have ended. */
  readonly waiting: CappedCount
  readonly running: CappedCount
  /** When the job that has been due for longest became due. */
  readonly oldestDueAt: Date | null
  /** Workers that serve it, with a heartbeat within ten seconds. Without any, its jobs do not run. */
  readonly liveWorkers: number
}

/** What is alive now. */
export interface LiveCounts {
  readonly pending: CappedCount
  readonly waiting: CappedCount
  readonly running: CappedCount
  readonly workers: number
}
