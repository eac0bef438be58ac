// Jobs as an operator sees them: rows of lists, and one job with its past.

import type { Explanation } from '../job/explanation.js'
import type { Job, JobId, JobState, KeyPolicy } from '../job/job.js'
import type { StoredStep } from '../run/durable-step.js'
import type { Failure } from '../run/failure.js'
import type { Page } from './page.js'

export interface JobPage extends Page<JobRow> {
  /**
   * False when the page ended early because it had scanned the most jobs that one call may: older ones may fit. Show it, and
   * let the reader go on.
   */
  readonly isFull: boolean
  /** The moment of the last scanned job; null when there was none. */
  readonly searchedTo: Date | null
}

/** A job in a list: all but its input, its output and the depths of its error. */
export interface JobRow {
  readonly id: JobId
  readonly type: string
  readonly queue: string
  readonly priority: number
  readonly state: JobState
  readonly key: string | null
  readonly keyPolicy: KeyPolicy | null
  readonly attempts: number
  readonly maxAttempts: number
  readonly progress: number | null
  readonly statusMessage: string | null
  readonly error: { readonly name: string; readonly message: string } | null
  readonly lockedBy: string | null
  readonly lockedAt: Date | null
  /** Waits for the holder of its key. */
  readonly isParked: boolean
  readonly pipelineId: string | null
  /** Its name in its pipeline. */
  readonly step: string | null
  readonly tags: readonly string[]
  readonly createdAt: Date
  readonly runAt: Date
  readonly finishedAt: Date | null
}

/** One job with its past. */
export interface JobStory {
  readonly job: Job
  /** See JobVersion. */
  readonly version: string
  /** The latest 100, newest first: failed and lost ones, each with its error. A success is the job itself. */
  readonly attempts: readonly Attempt[]
  /** The latest 100, newest first. */
  readonly audit: readonly AuditEntry[]
  /** Of its last log line; '0' when it has none. */
  readonly lastLog: string
  /** What its handler has remembered and what it waits for, oldest first. */
  readonly steps: readonly StoredStep[]
  /** Why it does not run, or how it ended. */
  readonly explanation: Explanation
}

/** What a live view compares: another text after every change of the job; equality is all that can be read from it. */
export interface JobVersion {
  readonly id: JobId
  readonly version: string
  /** Id of its last log line; '0' when it has none. */
  readonly lastLog: string
  /** Another text when its handler has remembered something or waits for something else; '0.0' when neither ever was. */
  readonly steps: string
}

export const ATTEMPT_VERDICTS = ['failed', 'lost'] as const

export interface Attempt {
  readonly token: string
  readonly attempt: number
  readonly verdict: (typeof ATTEMPT_VERDICTS)[number]
  readonly worker: string
  readonly startedAt: Date
  readonly endedAt: Date
  readonly error: Failure | null
}

export interface AuditEntry {
  readonly id: string
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly jobId: JobId | null
  readonly details: Readonly<Record<string, unknown>>
}
