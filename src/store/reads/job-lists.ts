// Lists of jobs by filter, and what a live view needs of single ones.

import type { Failure } from '../../domain/job/failure.js'
import type { JobId, JobState, KeyPolicy } from '../../domain/job/job.js'
import type { JobFilter } from '../../domain/job/job-filter.js'
import type { Attempt, CappedCount, JobPage, JobRow, JobVersion } from '../../domain/operate/operator-views.js'
import { durationMs } from '../../domain/value/duration.js'
import { call } from '../connection/call.js'
import type { Row } from '../connection/connection.js'
import type { Store } from '../store.js'

export async function listJobs(
  store: Store,
  filter: JobFilter,
  after: string | undefined,
  limit: number,
): Promise<JobPage> {
  const invocation = 'list_jobs_v1($1::text::jsonb, $2, $3)'
  const rows = await call(store, { invocation }, [filterText(filter), after ?? null, limit])
  const [first] = rows
  return {
    rows: rows.filter((row) => row.id !== null).map(toJobRow),
    next: (first?.next ?? null) as string | null,
    isFull: first?.is_full === true,
    searchedTo: (first?.searched_to ?? null) as Date | null,
  }
}

export async function countJobs(store: Store, filter: JobFilter): Promise<CappedCount> {
  const [row] = await call(store, { invocation: 'count_jobs_v1($1::text::jsonb)' }, [filterText(filter)])
  return { count: Number(row?.count), isCapped: row?.is_capped === true }
}

export async function jobVersions(store: Store, ids: readonly JobId[]): Promise<JobVersion[]> {
  const rows = await call(store, { invocation: 'job_versions_v1($1)' }, [ids])
  return rows.map((row) => ({
    id: String(row.id),
    version: row.version as string,
    lastLog: String(row.last_log),
    steps: row.steps as string,
  }))
}

export async function listAttempts(store: Store, id: JobId): Promise<Attempt[]> {
  const rows = await call(store, { invocation: 'list_attempts_v1($1)' }, [id])
  return rows.map((row) => ({
    token: String(row.token),
    attempt: row.attempt as number,
    verdict: row.verdict as Attempt['verdict'],
    worker: row.worker as string,
    startedAt: row.started_at as Date,
    endedAt: row.ended_at as Date,
    error: row.error as Failure | null,
  }))
}

/** JSON text of a filter in the words of SQL. */
export function filterText(filter: JobFilter): string {
  const { pipelineId, since, until, ...same } = filter
  return JSON.stringify({
    ...same,
    pipeline_id: pipelineId,
    ...(since instanceof Date ? { since } : since !== undefined && { since_ms: durationMs(since, 'since') }),
    ...(until instanceof Date ? { until } : until !== undefined && { until_ms: durationMs(until, 'until') }),
  })
}

export function toJobRow(row: Row): JobRow {
  const { error_name, error_message } = row as { error_name: string | null; error_message: string | null }
  return Object.freeze({
    id: String(row.id),
    type: row.type as string,
    queue: row.queue as string,
    priority: row.priority as number,
    state: row.state as JobState,
    key: row.key as string | null,
    keyPolicy: row.key_policy as KeyPolicy | null,
    attempts: row.attempts as number,
    maxAttempts: row.max_attempts as number,
    progress: row.progress as number | null,
    statusMessage: row.status_message as string | null,
    error:
      error_name === null && error_message === null ? null : { name: error_name ?? '', message: error_message ?? '' },
    lockedBy: row.locked_by as string | null,
    lockedAt: row.locked_at as Date | null,
    isParked: row.parked as boolean,
    pipelineId: row.pipeline_id as string | null,
    step: row.step as string | null,
    tags: row.tags as string[],
    createdAt: row.created_at as Date,
    runAt: row.run_at as Date,
    finishedAt: row.finished_at as Date | null,
  })
}
