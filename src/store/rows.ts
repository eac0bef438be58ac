// Rows of the database as values of the domain: the only place that knows both spellings.

import type { Failure } from '../domain/failure.js'
import type { ClaimedJob, Job, JobState, KeyPolicy } from '../domain/job.js'
import type { StepFacts } from '../domain/step-facts.js'
import type { Row } from './connection.js'

/** The jobs of a claim, column by column. What is seldom filled is told by place. */
export interface ClaimedColumns {
  readonly lease_id: string
  readonly lease_seconds: Readonly<Record<string, number>>
  readonly id: readonly string[]
  readonly type: readonly string[]
  readonly queue: readonly string[]
  readonly priority: readonly number[]
  readonly input: readonly unknown[]
  readonly token: readonly string[]
  readonly attempts: readonly number[]
  readonly max_attempts: readonly number[]
  readonly due_ms: readonly number[]
  readonly key: Readonly<Record<number, string>> | null
  readonly pipeline_id: Readonly<Record<number, string>> | null
  readonly tags: Readonly<Record<number, string[]>> | null
  readonly trace: Readonly<Record<number, string>> | null
  /** Only of steps that were handed over with the completion of the one before. */
  readonly facts?: Readonly<Record<number, StepFacts>> | null
}

const NO_TAGS: readonly string[] = Object.freeze([])

export function toClaimedJobs(columns: ClaimedColumns): ClaimedJob[] {
  const { type, queue, priority, input, token, attempts } = columns
  return columns.id.map((id, i) => ({
    id,
    type: type[i] as string,
    queue: queue[i] as string,
    priority: priority[i] as number,
    input: input[i],
    token: token[i] as string,
    leaseId: columns.lease_id,
    attempts: attempts[i] as number,
    maxAttempts: columns.max_attempts[i] as number,
    key: columns.key?.[i] ?? null,
    pipelineId: columns.pipeline_id?.[i] ?? null,
    tags: columns.tags?.[i] ?? NO_TAGS,
    trace: columns.trace?.[i] ?? null,
    dueAtMs: columns.due_ms[i] as number,
    leaseMs: (columns.lease_seconds[type[i] as string] as number) * 1000,
    facts: columns.facts?.[i],
  }))
}

/**
 * What enqueue_one_held gives; nulls between id and input where the job is pending. The input as the database has it: a later
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
