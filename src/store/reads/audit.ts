// The audit: what operators did, and when.

import type { JobId } from '../../domain/job/job.js'
import type { AuditEntry } from '../../domain/operate/job-views.js'
import type { Page } from '../../domain/operate/page.js'
import { call } from '../connection/call.js'
import type { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'

export interface AuditQuery {
  readonly jobId?: JobId | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly after?: string | undefined
}

export async function listAudit(store: Store, query: AuditQuery, limit: number): Promise<Page<AuditEntry>> {
  const values = [query.jobId ?? null, query.actor ?? null, query.action ?? null, query.after ?? null, limit]
  const rows = await call(store, { invocation: 'list_audit_v1($1, $2, $3, $4, $5)' }, values)
  return {
    rows: rows.filter((row) => !row.isNull('id')).map(toAuditEntry),
    next: rows[0]?.idOrNull('next') ?? null,
  }
}

function toAuditEntry(row: RowReader): AuditEntry {
  return {
    id: row.id('id'),
    at: row.moment('at'),
    actor: row.text('actor'),
    action: row.text('action'),
    jobId: row.idOrNull('job_id'),
    details: row.object('details'),
  }
}
