// Bulk operations: asked for, worked off step by step, looked at, cancelled.

import type { Failure } from '../../domain/job/failure.js'
import type { JobFilter } from '../../domain/job/job-filter.js'
import type { BulkOperation, BulkOperationName, Page } from '../../domain/operate/operator-views.js'
import { LIMITS } from '../../domain/value/sizes.js'
import { sanitizeText } from '../../domain/value/text.js'
import { BULK_MS, call } from '../connection/call.js'
import type { Row } from '../connection/connection.js'
import { filterText } from '../reads/job-lists.js'
import { pageBy } from '../reads/queues.js'
import type { Store } from '../store.js'

export async function startBulk(
  store: Store,
  operation: BulkOperationName,
  filter: JobFilter,
  { reason, actor }: { reason: string | null; actor: string | null },
): Promise<BulkOperation> {
  const values = [operation, filterText(filter), reason && sanitizeText(reason, LIMITS.reasonBytes), actor]
  const [row] = await call(store, { invocation: 'start_bulk_v1($1, $2::text::jsonb, $3, $4)' }, values)
  return toBulkOperation(row as Row)
}

export async function findBulk(store: Store, id: string): Promise<BulkOperation | undefined> {
  const [row] = await call(store, { invocation: 'list_bulk_v1($1)' }, [id])
  return row && toBulkOperation(row)
}

export async function listBulk(store: Store, before: string | undefined, limit: number): Promise<Page<BulkOperation>> {
  const rows = await call(store, { invocation: 'list_bulk_v1(null, $1, $2)' }, [before ?? null, limit])
  return pageBy(rows, limit, 'id', toBulkOperation)
}

/** false when it was over already. */
export async function cancelBulk(store: Store, id: string, actor: string | null): Promise<boolean> {
  const [row] = await call(store, { invocation: 'cancel_bulk_v1($1, $2)', value: 'changed' }, [id, actor])
  return row?.changed === true
}

/** One step of the oldest open operation; undefined when there is none, or others are at it. */
export async function workBulk(store: Store, limit: number): Promise<BulkOperation | undefined> {
  const [row] = await call(store, { invocation: 'work_bulk_v1($1)', answerMs: BULK_MS }, [limit])
  return row && toBulkOperation(row)
}

function toBulkOperation(row: Row): BulkOperation {
  return Object.freeze({
    id: String(row.id),
    operation: row.operation as BulkOperationName,
    filter: row.filter as Record<string, unknown>,
    reason: row.reason as string | null,
    askedBy: row.asked_by as string,
    askedAt: row.asked_at as Date,
    state: row.state as BulkOperation['state'],
    expected: { count: Number(row.expected), isCapped: row.expected_is_capped as boolean },
    done: Number(row.done),
    skipped: Number(row.skipped),
    failed: Number(row.failed),
    error: row.error as Failure | null,
    finishedAt: row.finished_at as Date | null,
  })
}
