// Rows of the database as values of the domain: the only place that knows both spellings.

import type { Failure } from '../../domain/job/failure.js'
import type { ClaimedJob, Job, JobState, KeyPolicy } from '../../domain/job/job.js'
import type { StepResults } from '../../domain/pipeline/step-results.js'
import type { Row } from '../connection/connection.js'

/** The jobs of a claim, column by column, in the order of ids. What a column by id leaves out is as in `usual`, or empty. */
export interface ClaimedColumns {
  readonly lease_id: string
  readonly lease_seconds: Readonly<Record<string, number>>
  readonly usual: {
    readonly type: string
    readonly queue: string
    readonly priority: number
    readonly token: string
    readonly attempts: number
    readonly max_attempts: number
    /** Only of jobs that were enqueued and claimed in one. */
    readonly pipeline_id?: string | null
    readonly tags?: readonly string[]
    readonly trace?: string | null
  }
  /** With commas between them: the engine would look each of a list of short texts up among all that it knows. */
  readonly id: string
  /** The places in claim order, where that is not the order of ids. */
  readonly turn?: readonly number[] | null
  readonly due_ms: readonly number[]
  readonly input: readonly unknown[]
  readonly type?: ById<string>
  readonly queue?: ById<string>
  readonly priority?: ById<number>
  readonly token?: ById<string>
  readonly attempts?: ById<number>
  readonly max_attempts?: ById<number>
  readonly key?: ById<string>
  readonly pipeline_id?: ById<string>
  readonly tags?: ById<readonly string[]>
  readonly trace?: ById<string>
  /** Only of steps that were handed over with the completion of the one before. */
  readonly facts?: ById<StepResults>
}

type ById<T> = Readonly<Record<string, T>> | null

const NO_TAGS: readonly string[] = Object.freeze([])

export function toClaimedJobs(columns: ClaimedColumns): ClaimedJob[] {
  const { lease_id: leaseId, usual, due_ms: dueMs, input, turn } = columns
  const usualLeaseMs = leaseMsOf(columns, usual.type)
  const usualPipeline = usual.pipeline_id ?? null
  const usualTags = usual.tags ?? NO_TAGS
  const usualTrace = usual.trace ?? null
  const jobs = columns.id.split(',').map((id, i) => {
    const type = columns.type?.[id] ?? usual.type
    return {
      id,
      type,
      queue: columns.queue?.[id] ?? usual.queue,
      priority: columns.priority?.[id] ?? usual.priority,
      input: input[i],
      token: columns.token?.[id] ?? usual.token,
      leaseId,
      attempts: columns.attempts?.[id] ?? usual.attempts,
      maxAttempts: columns.max_attempts?.[id] ?? usual.max_attempts,
      key: columns.key?.[id] ?? null,
      pipelineId: columns.pipeline_id?.[id] ?? usualPipeline,
      tags: columns.tags?.[id] ?? usualTags,
      trace: columns.trace?.[id] ?? usualTrace,
      dueAtMs: dueMs[i] as number,
      leaseMs: type === usual.type ? usualLeaseMs : leaseMsOf(columns, type),
      facts: columns.facts?.[id],
    }
  })
  return turn ? turn.map((place) => jobs[place] as ClaimedJob) : jobs
}

function leaseMsOf(columns: ClaimedColumns, type: string): number {
  return (columns.lease_seconds[type] as number) * 1000
}

/**
 * What enqueue_and_claim_one gives; nulls between id and input where the job is pending. The input as the database has it: a later
 * attempt gets the same, to the order of its names.
 */
export type HeldFacts = readonly [id: string, leaseId: string, leaseSeconds: number, dueAtMs: number, input: unknown]

/** A job that was enqueued into the hands of a worker, which knows the rest of it. */
export function toHeldJob(
  [id, leaseId, leaseSeconds, dueAtMs, input]: HeldFacts,
  { type, queue, priority, maxAttempts }: Pick<ClaimedJob, 'type' | 'queue' | 'priority' | 'maxAttempts'>,
): ClaimedJob {
  return {
    id,
    type,
    queue,
    priority,
    input,
    token: '1',
    leaseId,
    attempts: 1,
    maxAttempts,
    key: null,
    pipelineId: null,
    tags: NO_TAGS,
    trace: null,
    dueAtMs,
    leaseMs: leaseSeconds * 1000,
    facts: undefined,
  }
}

export function toJob(row: Row): Job {
  return Object.freeze({
    id: String(row.id),
    type: row.type as string,
    queue: row.queue as string,
    priority: row.priority as number,
    state: row.state as JobState,
    input: row.input,
    output: row.output ?? null,
    error: (row.error ?? null) as Failure | null,
    key: row.key as string | null,
    keyPolicy: row.key_policy as KeyPolicy | null,
    isCurrent: row.is_current as boolean,
    attempts: row.attempts as number,
    maxAttempts: row.max_attempts as number,
    token: String(row.token),
    lockedBy: row.locked_by as string | null,
    lockedAt: row.locked_at as Date | null,
    lockedUntil: row.locked_until as Date | null,
    progress: row.progress as number | null,
    statusMessage: row.status_message as string | null,
    pipelineId: row.pipeline_id as string | null,
    step: row.step as string | null,
    tags: row.tags as string[],
    dedupeId: row.dedupe_id as string | null,
    trace: row.trace as string | null,
    createdAt: row.created_at as Date,
    runAt: row.run_at as Date,
    finishedAt: row.finished_at as Date | null,
  })
}

/** The driver gives a bigint as text; undefined where the database has none to tell. */
export function toMs(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}
