// Claimed jobs, which the database returns as columns: the types and names of a whole batch are read once.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { StepResults } from '../../domain/pipeline/step-results.js'
import { isObject, misread, RowReader } from './row-reader.js'

/** The jobs of a claim in the order of ids. A column by id holds only the values that differ from `usual`, or are not null. */
export interface ClaimedColumns {
  readonly lease_id: string
  readonly usual: {
    readonly type: string
    readonly queue: string
    readonly priority: number
    readonly token: string
    readonly attempts: number
    readonly max_attempts: number
    readonly lease_seconds: number
    /** From here on only of a job that was claimed alone. */
    readonly key?: string | null
    readonly pipeline_id?: string | null
    readonly tags?: readonly string[]
    readonly trace?: string | null
  }
  /** Joined by commas: the JSON parser looks up each of many short texts in its table of strings. */
  readonly id: string
  /** The indexes in claim order, where that is not the order of ids. */
  readonly turn?: readonly number[] | null
  readonly due_ms: readonly number[]
  readonly input: readonly unknown[]
  readonly type?: ById<string>
  readonly queue?: ById<string>
  readonly priority?: ById<number>
  readonly token?: ById<string>
  readonly attempts?: ById<number>
  readonly max_attempts?: ById<number>
  readonly lease_seconds?: ById<number>
  readonly key?: ById<string>
  readonly pipeline_id?: ById<string>
  readonly tags?: ById<readonly string[]>
  readonly trace?: ById<string>
  /** Only of steps that were claimed with the completion of the one before. */
  readonly facts?: ById<StepResults>
}

type ById<T> = Readonly<Record<string, T>> | null

const NO_TAGS: readonly string[] = Object.freeze([])

/** Checks the shape of the batch once and not each field of each job: tens of thousands of jobs a second pass here. */
export function toClaimedJobs(value: unknown): ClaimedJob[] {
  const columns = checkedColumns(value)
  const { lease_id: leaseId, usual, due_ms: dueMs, input, turn } = columns
  const usualKey = usual.key ?? null
  const usualPipeline = usual.pipeline_id ?? null
  const usualTags = usual.tags ?? NO_TAGS
  const usualTrace = usual.trace ?? null
  const jobs = columns.id.split(',').map((id, i) => {
    return {
      id,
      type: columns.type?.[id] ?? usual.type,
      queue: columns.queue?.[id] ?? usual.queue,
      priority: columns.priority?.[id] ?? usual.priority,
      input: input[i],
      token: columns.token?.[id] ?? usual.token,
      leaseId,
      attempts: columns.attempts?.[id] ?? usual.attempts,
      maxAttempts: columns.max_attempts?.[id] ?? usual.max_attempts,
      key: columns.key?.[id] ?? usualKey,
      pipelineId: columns.pipeline_id?.[id] ?? usualPipeline,
      tags: columns.tags?.[id] ?? usualTags,
      trace: columns.trace?.[id] ?? usualTrace,
      dueAtMs: dueMs[i] as number,
      leaseMs: (columns.lease_seconds?.[id] ?? usual.lease_seconds) * 1000,
      facts: columns.facts?.[id],
    }
  })
  return turn ? turn.map((place) => jobs[place] as ClaimedJob) : jobs
}

function checkedColumns(value: unknown): ClaimedColumns {
  if (!isObject(value)) throw misread(SOURCE, 'jobs', 'an object of columns', value)
  const row = new RowReader(value, SOURCE)
  row.text('lease_id')
  const usual = row.nested('usual')
  for (const column of ['type', 'queue', 'token']) usual.text(column)
  for (const column of ['priority', 'attempts', 'max_attempts', 'lease_seconds']) usual.number(column)
  const jobs = row.text('id').split(',').length
  for (const column of ['due_ms', 'input']) {
    const list = row.list(column)
    if (list.length !== jobs) throw misread(SOURCE, column, `a list of ${jobs} values`, list)
  }
  return value as unknown as ClaimedColumns
}

const SOURCE = 'the claim'
