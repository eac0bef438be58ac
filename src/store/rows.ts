// Rows of the database as values of the domain: the only place that knows both spellings.

import type { Failure } from '../domain/failure.js'
import type { ClaimedJob, Job, JobState, KeyPolicy } from '../domain/job.js'
import type { Row } from './connection.js'

/** One job of a claim, in the order that claim.ts asks for. */
export type ClaimedTuple = [
  id: string,
  type: string,
  queue: string,
  priority: number,
  input: unknown,
  token: string,
  leaseId: string,
  attempts: number,
  maxAttempts: number,
  key: string | null,
  pipelineId: string | null,
  tags: string[],
  runAt: string,
  leaseSeconds: number,
]

export function toClaimedJob(tuple: ClaimedTuple): ClaimedJob {
  const [id, type, queue, priority, input, token, leaseId, attempts, maxAttempts, key, pipelineId, tags, runAt] = tuple
  const leaseMs = tuple[13] * 1000
  return {
    id,
    type,
    queue,
    priority,
    input,
    token,
    leaseId,
    attempts,
    maxAttempts,
    key,
    pipelineId,
    tags,
    runAt,
    leaseMs,
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
    tags: row.tags as string[],
    dedupeId: row.dedupe_id as string | null,
    trace: row.trace as string | null,
    createdAt: row.created_at as Date,
    runAt: row.run_at as Date,
    finishedAt: row.finished_at as Date | null,
  })
}
