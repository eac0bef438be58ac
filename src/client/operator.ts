// What an operator looks at: lists by keyset, one job with its past, queues, workers, keys, figures and the audit.
// Every read is bounded: by rows, and where it searches by time too.

import type { KeyValue } from '../domain/definition.js'
import type { Duration } from '../domain/duration.js'
import type { JobFilter } from '../domain/job-filter.js'
import type {
  AuditEntry,
  CappedCount,
  JobPage,
  JobStory,
  JobVersion,
  KeyView,
  LiveCounts,
  Page,
  QueueView,
  Stats,
  WorkerView,
} from '../domain/operator-views.js'
import type { Store } from '../store/open.js'
import { BulkOperations } from './bulk-operations.js'
import type { AnyJobId } from './client.js'

export interface PageOptions {
  /** The `next` of the page before. */
  readonly after?: string
  /** 1 to 200, by default 50. */
  readonly limit?: number
}

export interface JobsQuery extends PageOptions {
  /** An object, or a text as in `state:failed type:csv_ingest since:24h input.year=2026`. */
  readonly filter?: JobFilter | string
}

export interface AuditQuery extends PageOptions {
  readonly jobId?: AnyJobId
  readonly actor?: string
  readonly action?: string
}

export interface StatsQuery {
  /** A moment, or a span before now; by default an hour. At most 7 days. */
  readonly since?: Date | Duration
  readonly until?: Date | Duration
  /** Whole minutes; by default what makes about 60 points. At most 1,500 points. */
  readonly step?: Duration
  readonly queues?: readonly string[]
  readonly types?: readonly string[]
}

export class Operator {
  /** Deeds on all jobs of a filter, with progress. */
  readonly bulk: BulkOperations

  constructor(store: Store) {
    this.bulk = new BulkOperations(store)
  }

  /**
   * Jobs, newest first. With states or a time in the filter: those that run, by claim; then those that wait, by id; then
   * finished ones by when they finished. Otherwise by id.
   */
  jobs(_query: JobsQuery = {}): Promise<JobPage> {
    throw new Error('not yet')
  }

  /** How many jobs a filter means, counted up to 10,000 and for two seconds at most. */
  count(_filter: JobFilter | string): Promise<CappedCount> {
    throw new Error('not yet')
  }

  /** undefined when there is no such job, or no longer. */
  job(_id: AnyJobId): Promise<JobStory | undefined> {
    throw new Error('not yet')
  }

  /** Of those jobs that exist, in order of their id; at most 1,000 at a time. One cheap look-up for many live views. */
  versions(_ids: readonly AnyJobId[]): Promise<JobVersion[]> {
    throw new Error('not yet')
  }

  /** undefined when no job of the key has started and none is pending. */
  key(_key: KeyValue): Promise<KeyView | undefined> {
    throw new Error('not yet')
  }

  /** By name. */
  queues(_options: PageOptions = {}): Promise<Page<QueueView>> {
    throw new Error('not yet')
  }

  /** By id. */
  workers(_options: PageOptions = {}): Promise<Page<WorkerView>> {
    throw new Error('not yet')
  }

  /** Newest first. */
  audit(_query: AuditQuery = {}): Promise<Page<AuditEntry>> {
    throw new Error('not yet')
  }

  /** What ended when, and how long it took, from figures kept by the minute. */
  stats(_query: StatsQuery = {}): Promise<Stats> {
    throw new Error('not yet')
  }

  live(): Promise<LiveCounts> {
    throw new Error('not yet')
  }
}
