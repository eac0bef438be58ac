// Asks the database why a job does not run.

import { type Explanation, REASON_CODES, type Reason } from '../../domain/job/explanation.js'
import type { JobId } from '../../domain/job/job.js'
import { call } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import type { Store } from '../store.js'

export async function explainJob(store: Store, id: JobId, tx?: Queryable): Promise<Explanation> {
  const rows = await call(store, { invocation: 'explain_job_v1($1)' }, [id], tx)
  const reasons = rows.map(
    (row): Reason => ({
      code: row.oneOf('code', REASON_CODES),
      text: row.text('text'),
      facts: inCamelCase(row.object('facts')),
    }),
  )
  return Object.freeze({
    jobId: id,
    reasons,
    text: `job ${id}: ${reasons.map(({ text }) => text).join('; ')}`,
    expectedStart: rows[0]?.momentOrNull('expected_start') ?? null,
  })
}

function inCamelCase(values: Record<string, unknown>): Record<string, unknown> {
  const named = Object.entries(values)
  return Object.fromEntries(named.map(([name, value]) => [name.replace(/_(\w)/g, (_, c) => c.toUpperCase()), value]))
}
