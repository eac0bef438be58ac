// Reads where claimed jobs come from.

import type { ClaimedJob } from '../domain/job.js'
import { call } from './call.js'
import type { Store } from './open.js'

/** The same jobs, those that were enqueued with a trace having it. */
export async function withTraces(store: Store, jobs: readonly ClaimedJob[]): Promise<ClaimedJob[]> {
  if (jobs.length === 0) return []
  const rows = await call(store, { invocation: 'read_traces_v1($1)' }, [jobs.map(({ id }) => id)])
  const traces = new Map(rows.map((row) => [String(row.job_id), String(row.trace)]))
  return jobs.map((job) => {
    const trace = traces.get(job.id)
    return trace === undefined ? job : { ...job, trace }
  })
}
