// What an operator reads: lists by keyset, one job with its past, queues, workers, keys, statistics and the audit.
// Every read is limited by rows, and every search by time too.

import { isHoldfastError } from '../domain/error/errors.js'
import type { KeyValue } from '../domain/job/definition.js'
import { type AnyJobId, toJobId } from '../domain/job/job.js'
import { checkPipelineId, type JobFilter } from '../domain/job/job-filter.js'
import { canonicalKey } from '../domain/job/key.js'
import type { AuditEntry, JobPage, JobStory, JobVersion } from '../domain/operate/job-views.js'
import type { CappedCount, Page } from '../domain/operate/page.js'
import type { PipelineRow, PipelineStep } from '../domain/operate/pipeline-views.js'
import type { KeyView, LiveCounts, QueueView } from '../domain/operate/queue-views.js'
import type { Stats } from '../domain/operate/statistics.js'
import type { WorkerView } from '../domain/operate/worker-views.js'
import { readSteps } from '../store/jobs/durable-steps.js'
import { findJob } from '../store/jobs/operator-calls.js'
import { listPipelineSteps, listPipelines } from '../store/jobs/pipelines.js'
import { listAudit } from '../store/reads/audit.js'
import { explainJob } from '../store/reads/explain.js'
import { countJobs, jobVersions, listAttempts, listJobs } from '../store/reads/job-lists.js'
import { findKey } from '../store/reads/keys.js'
import { listQueues, liveCounts } from '../store/reads/queues.js'
import { listWorkers } from '../store/reads/workers.js'
import type { Store } from '../store/store.js'
import { BulkOperations } from './bulk-operations.js'
import { filterOf, limitOf, numberAfter, type PageOptions } from './page-options.js'
import { type StatsQuery, statsOf } from './stats.js'

export interface JobsQuery extends PageOptions {
  /** An object, or a text as in `state:failed type:csv_ingest since:24h input.year=2026`. */
  readonly filter?: JobFilter | string
}

export interface AuditQuery extends PageOptions {
  readonly jobId?: AnyJobId
  readonly actor?: string
  readonly action?: string
}

export interface PipelinesQuery extends PageOptions {
  /** Only pipelines all of whose jobs are in these. */
  readonly queues?: readonly string[] | undefined
}

// Entries of the audit on a job's page; the audit has the rest.
const STORY_LIMIT = 100

export class Operator {
  readonly #store: Store
  /** Operations on all jobs of a filter, with progress. */
  readonly bulk: BulkOperations

  constructor(store: Store) {
    this.#store = store
    this.bulk = new BulkOperations(store)
  }

  /**
   * Jobs, newest first. With states or a time in the filter: those that run, are pending and wait, by id, then finished ones by
   * when they finished. Otherwise by id.
   */
  async jobs(query: JobsQuery = {}): Promise<JobPage> {
    return listJobs(this.#store, filterOf(query.filter ?? {}), query.after, limitOf(query))
  }

  /** How many jobs a filter means, counted up to 10,000 and for two seconds at most. */
  async count(filter: JobFilter | string): Promise<CappedCount> {
    return countJobs(this.#store, filterOf(filter))
  }

  /** undefined when there is no such job, or no longer. */
  async job(id: AnyJobId): Promise<JobStory | undefined> {
    const jobId = toJobId(id)
    // The version first: a change during the other reads then makes the next version differ.
    const [version] = await jobVersions(this.#store, [jobId])
    const [job, attempts, audit, steps, explanation] = await Promise.all([
      findJob(this.#store, jobId),
      listAttempts(this.#store, jobId),
      listAudit(this.#store, { jobId }, STORY_LIMIT),
      readSteps(this.#store, jobId),
      explainJob(this.#store, jobId).catch(nothingWhereNoJob),
    ])
    if (!job || !version || !explanation) return undefined
    return { job, version: version.version, lastLog: version.lastLog, attempts, audit: audit.rows, steps, explanation }
  }

  /** The versions of those jobs that exist, by id; at most 1,000. One cheap read for many live views. */
  async versions(ids: readonly AnyJobId[]): Promise<JobVersion[]> {
    return ids.length === 0 ? [] : jobVersions(this.#store, ids.map(toJobId))
  }

  /** undefined when no job of the key has started and none is pending. Its jobs: `jobs({ filter: { key } })`. */
  async key(key: KeyValue): Promise<KeyView | undefined> {
    return findKey(this.#store, canonicalKey(key))
  }

  /** Those that were enqueued as such, newest first; jobs that were chained one by one are a list of jobs. */
  async pipelines(query: PipelinesQuery = {}): Promise<Page<PipelineRow>> {
    return listPipelines(this.#store, query.after, limitOf(query), query.queues)
  }

  /** The jobs of a pipeline in the order of its graph, each with those it comes after. */
  async pipelineSteps(id: string, options: PageOptions = {}): Promise<Page<PipelineStep>> {
    return listPipelineSteps(this.#store, checkPipelineId(id), numberAfter(options) ?? '0', limitOf(options))
  }

  /** By name. */
  async queues(options: PageOptions = {}): Promise<Page<QueueView>> {
    return listQueues(this.#store, options.after ?? '', limitOf(options))
  }

  /** By id. */
  async workers(options: PageOptions = {}): Promise<Page<WorkerView>> {
    return listWorkers(this.#store, options.after ?? '', limitOf(options))
  }

  /** Newest first. */
  async audit(query: AuditQuery = {}): Promise<Page<AuditEntry>> {
    const { jobId, actor, action } = query
    const wanted = { jobId: jobId === undefined ? undefined : toJobId(jobId), actor, action, after: numberAfter(query) }
    return listAudit(this.#store, wanted, limitOf(query))
  }

  /** What ended when, and how long it took, from statistics that workers keep by the minute. */
  async stats(query: StatsQuery = {}): Promise<Stats> {
    return statsOf(this.#store, query)
  }

  /** What is alive now. */
  async live(): Promise<LiveCounts> {
    return liveCounts(this.#store)
  }
}

function nothingWhereNoJob(error: unknown): undefined {
  if (isHoldfastError(error) && error.code === 'JOB_NOT_FOUND') return undefined
  throw error
}
