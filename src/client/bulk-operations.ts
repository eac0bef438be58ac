// Operations on all jobs of a filter: asked for here, done in small steps by any worker, watched and cancelled here.

import { invalidOption } from '../domain/error/invalid-option.js'
import type { JobFilter } from '../domain/job/job-filter.js'
import { BULK_OPERATIONS, type BulkOperation, type BulkOperationName } from '../domain/operate/bulk-operation.js'
import type { Page } from '../domain/operate/page.js'
import { cancelBulk, findBulk, listBulk, startBulk } from '../store/jobs/bulk-operations.js'
import type { Store } from '../store/store.js'
import { checkNumber, filterOf, limitOf, numberAfter, type PageOptions } from './page-options.js'

export interface BulkRequest {
  readonly operation: BulkOperationName
  /** Must name states, and only those that the operation is for: final ones to retry, pending and running to cancel. */
  readonly filter: JobFilter | string
  /** Kept with each cancelled job. */
  readonly reason?: string
  /** The name for the audit; the database role by default. */
  readonly actor?: string
}

export class BulkOperations {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** `operator.count` with the same filter says beforehand how many jobs it means. */
  async start(request: BulkRequest): Promise<BulkOperation> {
    const { operation, filter, reason = null, actor = null } = request
    if (!BULK_OPERATIONS.includes(operation)) throw invalidOption('operation', BULK_OPERATIONS.join(' or '), operation)
    return startBulk(this.#store, operation, filterOf(filter), { reason, actor })
  }

  /** undefined when there is no such operation. */
  async find(id: string): Promise<BulkOperation | undefined> {
    return findBulk(this.#store, checkNumber(id, 'id of a bulk operation'))
  }

  /** Newest first. */
  async list(options: PageOptions = {}): Promise<Page<BulkOperation>> {
    return listBulk(this.#store, numberAfter(options), limitOf(options))
  }

  /** What is done stays done. false when it was over already. */
  async cancel(id: string, options: { actor?: string } = {}): Promise<boolean> {
    return cancelBulk(this.#store, checkNumber(id, 'id of a bulk operation'), options.actor ?? null)
  }
}
