// Deeds on all jobs of a filter: asked for here, done in small steps by any worker, watched and cancelled here.

import type { JobFilter } from '../domain/job-filter.js'
import type { BulkDeed, BulkOperation, Page } from '../domain/operator-views.js'
import type { Store } from '../store/open.js'
import type { PageOptions } from './operator.js'

export interface BulkRequest {
  readonly deed: BulkDeed
  /** Must name states that the deed is for: finished ones to retry, pending and running to cancel. */
  readonly filter: JobFilter | string
  /** Kept with each cancelled job. */
  readonly reason?: string
  /** Who asks, for the audit; the database role by default. */
  readonly actor?: string
}

export class BulkOperations {
  constructor(_store: Store) {}

  /** `operator.count` with the same filter says beforehand how many jobs it will touch. */
  start(_request: BulkRequest): Promise<BulkOperation> {
    throw new Error('not yet')
  }

  /** undefined when there is no such operation. */
  find(_id: string): Promise<BulkOperation | undefined> {
    throw new Error('not yet')
  }

  /** Newest first. */
  list(_options: PageOptions = {}): Promise<Page<BulkOperation>> {
    throw new Error('not yet')
  }

  /** What is done stays done. false when it was over already. */
  cancel(_id: string, _options: { actor?: string } = {}): Promise<boolean> {
    throw new Error('not yet')
  }
}
