// What an operator sees: the rows of lists, pages, one job with its past, queues, workers, statistics and bulk operations.

import type { StoredStep } from '../job/durable-step.js'
import type { Explanation } from '../job/explanation.js'
import type { Failure } from '../job/failure.js'
import type { Job, JobId, JobState, KeyPolicy } from '../job/job.js'
import type { Pipeline } from '../pipeline/pipeline.js'

/** One page of a list. Fewer rows than asked for do not mean the end; only a `next` of null does. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Give it as `after` to go on; null at the end. */
  readonly next: string | null
}

export interface JobPage extends Page<JobRow> {
  /**
   * False when the page ended early because it had looked at enough jobs that did not fit: older ones may. Show it, and let
   * the reader go on.
   */
  readonly isFull: boolean
  /** The moment of the last job looked at; null when none was. */
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
  /** Why it does not run, or what became of it. */
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

/** A pipeline in a list. */
export interface PipelineRow extends Omit<Pipeline, 'input' | 'queues'> {
  /**
   * It has more than 200 jobs: `jobs` counts the newest of them, and `state` may miss an older one that still runs. The
   * pipeline itself tells exactly.
   */
  readonly isCapped: boolean
}

/** A job of a pipeline and its place in the graph. */
export interface PipelineStep extends JobRow {
  /** The jobs that it comes after, at most the first 200 of them. */
  readonly dependsOn: readonly JobId[]
  /** How many these are in all. */
  readonly dependencies: number
  /** The job that this one takes back. */
  readonly compensates: JobId | null
  /** The type of the job that takes this one back, where its pipeline compensates. */
  readonly compensation: string | null
}

/** A key: who has it, who waits for it. Its history is a list of jobs with this key. */
export interface KeyView {
  readonly key: string
  /** The running job that holds it. */
  readonly holder: JobId | null
  /** The latest started job. */
  readonly current: JobId | null
  readonly currentSince: Date | null
  readonly pending: CappedCount
}

/** `isCapped`: there are more; show it as "10,000+". */
export interface CappedCount {
  readonly count: number
  readonly isCapped: boolean
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
  /** Workers that serve it and have recorded within ten seconds; none means that nobody will run its jobs. */
  readonly liveWorkers: number
}

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

/** What is counted per minute: jobs by their outcome, and attempts that failed or were lost, final or not. */
export const STAT_COUNTS = ['completed', 'failed', 'cancelled', 'superseded', 'attempt_failed', 'attempt_lost'] as const
export type StatCount = (typeof STAT_COUNTS)[number]

/** One span of time of the statistics. */
export interface StatPoint {
  readonly from: Date
  readonly counts: Readonly<Record<StatCount, number>>
  /** From due to claimed, of the jobs that ended in this span after a run. */
  readonly wait: Spread
  /** From claimed to ended. */
  readonly run: Spread
}

/** Estimated from a histogram; null where nothing was measured. */
export interface Spread {
  readonly count: number
  readonly meanMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
}

export interface Stats {
  readonly since: Date
  readonly until: Date
  readonly stepMs: number
  /** Up to here all is counted; later minutes still grow. null: nothing has been counted yet. */
  readonly countedTo: Date | null
  readonly points: readonly StatPoint[]
  readonly total: Omit<StatPoint, 'from'>
}

/** What is alive now. */
export interface LiveCounts {
  readonly pending: CappedCount
  readonly waiting: CappedCount
  readonly running: CappedCount
  readonly workers: number
}

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
