// Lists of jobs by filter, and what a live view needs of single jobs.

import type { JobId } from '../../domain/job/job.js'
import type { JobFilter } from '../../domain/job/job-filter.js'
import { ATTEMPT_VERDICTS, type Attempt, type JobPage, type JobVersion } from '../../domain/operate/job-views.js'
import type { CappedCount } from '../../domain/operate/page.js'
import { durationMs } from '../../domain/value/duration.js'
import { call, callOne } from '../connection/call.js'
import { toFailureOrNull, toJobRow } from '../rows/job-rows.js'
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
    rows: rows.filter((row) => !row.isNull('id')).map(toJobRow),
    next: first?.textOrNull('next') ?? null,
    isFull: first?.boolean('is_full') ?? false,
    searchedTo: first?.momentOrNull('searched_to') ?? null,
  }
}

export async function countJobs(store: Store, filter: JobFilter): Promise<CappedCount> {
  const row = await callOne(store, { invocation: 'count_jobs_v1($1::text::jsonb)' }, [filterText(filter)])
  return { count: row.number('count'), isCapped: row.boolean('is_capped') }
}

export async function jobVersions(store: Store, ids: readonly JobId[]): Promise<JobVersion[]> {
  const rows = await call(store, { invocation: 'job_versions_v1($1)' }, [ids])
  return rows.map((row) => ({
    id: row.id('id'),
    version: row.text('version'),
    lastLog: row.id('last_log'),
    steps: row.text('steps'),
  }))
}

export async function listAttempts(store: Store, id: JobId): Promise<Attempt[]> {
  const rows = await call(store, { invocation: 'list_attempts_v1($1)' }, [id])
  return rows.map((row) => ({
    token: row.id('token'),
    attempt: row.number('attempt'),
    verdict: row.oneOf('verdict', ATTEMPT_VERDICTS),
    worker: row.text('worker'),
    startedAt: row.moment('started_at'),
    endedAt: row.moment('ended_at'),
    error: toFailureOrNull(row, 'error'),
  }))
}

/** The filter as JSON text with the names that SQL uses. */
export function filterText(filter: JobFilter): string {
  const { pipelineId, since, until, ...same } = filter
  return JSON.stringify({
    ...same,
    pipeline_id: pipelineId,
    ...(since instanceof Date ? { since } : since !== undefined && { since_ms: durationMs(since, 'since') }),
    ...(until instanceof Date ? { until } : until !== undefined && { until_ms: durationMs(until, 'until') }),
  })
}
