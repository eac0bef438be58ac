// Bulk operations: started, done in steps, read, cancelled.

import type { JobFilter } from '../../domain/job/job-filter.js'
import {
  BULK_OPERATIONS,
  BULK_STATES,
  type BulkOperation,
  type BulkOperationName,
} from '../../domain/operate/bulk-operation.js'
import type { Page } from '../../domain/operate/page.js'
import { LIMITS } from '../../domain/value/sizes.js'
import { sanitizeText } from '../../domain/value/text.js'
import { BULK_MS, call, callOne } from '../connection/call.js'
import { filterText } from '../reads/job-lists.js'
import { toFailureOrNull } from '../rows/job-rows.js'
import { pageBy } from '../rows/page.js'
import type { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'

export async function startBulk(
  store: Store,
  operation: BulkOperationName,
  filter: JobFilter,
  { reason, actor }: { reason: string | null; actor: string | null },
): Promise<BulkOperation> {
  const values = [operation, filterText(filter), reason && sanitizeText(reason, LIMITS.reasonBytes), actor]
  return toBulkOperation(await callOne(store, { invocation: 'start_bulk_v1($1, $2::text::jsonb, $3, $4)' }, values))
}

export async function findBulk(store: Store, id: string): Promise<BulkOperation | undefined> {
  const [row] = await call(store, { invocation: 'list_bulk_v1($1)' }, [id])
  return row && toBulkOperation(row)
}

export async function listBulk(store: Store, before: string | undefined, limit: number): Promise<Page<BulkOperation>> {
  const rows = await call(store, { invocation: 'list_bulk_v1(null, $1, $2)' }, [before ?? null, limit])
  return pageBy(rows, limit, (row) => row.id('id'), toBulkOperation)
}

/** false when it was over already. */
export async function cancelBulk(store: Store, id: string, actor: string | null): Promise<boolean> {
  const statement = { invocation: 'cancel_bulk_v1($1, $2)', value: 'changed' }
  return (await callOne(store, statement, [id, actor])).boolean('changed')
}

/** Does one step of the oldest open operation; undefined when there is none, or another worker does one. */
export async function workBulk(store: Store, limit: number): Promise<BulkOperation | undefined> {
  const [row] = await call(store, { invocation: 'work_bulk_v1($1)', answerMs: BULK_MS }, [limit])
  return row && toBulkOperation(row)
}

function toBulkOperation(row: RowReader): BulkOperation {
  return Object.freeze({
    id: row.id('id'),
    operation: row.oneOf('operation', BULK_OPERATIONS),
    filter: row.object('filter'),
    reason: row.textOrNull('reason'),
    askedBy: row.text('asked_by'),
    askedAt: row.moment('asked_at'),
    state: row.oneOf('state', BULK_STATES),
    expected: { count: row.number('expected'), isCapped: row.boolean('expected_is_capped') },
    done: row.number('done'),
    skipped: row.number('skipped'),
    failed: row.number('failed'),
    error: toFailureOrNull(row, 'error'),
    finishedAt: row.momentOrNull('finished_at'),
  })
}
