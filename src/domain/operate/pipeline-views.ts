// Pipelines as an operator sees them: rows of lists, and the steps of one.

import type { JobId } from '../job/job.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { JobRow } from './job-views.js'

/** A pipeline in a list. */
export interface PipelineRow extends Omit<Pipeline, 'input' | 'queues'> {
  /**
   * It has more than 200 jobs: `jobs` counts the newest of them, and `state` may miss an older one that still runs. Find the
   * pipeline itself for the exact values.
   */
  readonly isCapped: boolean
}

/** A job of a pipeline and its place in the graph. */
export interface PipelineStep extends JobRow {
  /** The jobs that it comes after, at most the first 200 of them. */
  readonly dependsOn: readonly JobId[]
  /** How many these are in all. */
  readonly dependencies: number
  /** The job that this one takes back. */
  readonly compensates: JobId | null
  /** The type of the job that takes this one back, where its pipeline compensates. */
  readonly compensation: string | null
}
