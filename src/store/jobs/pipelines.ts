// Pipelines: enqueue whole graphs, look at them, cancel and retry them, and what their steps need while they run.

import type { ClaimedJob, JobId } from '../../domain/job/job.js'
import type { Page, PipelineRow, PipelineStep } from '../../domain/operate/operator-views.js'
import type { OnFailure, Pipeline, PipelineState } from '../../domain/pipeline/pipeline.js'
import type { StepResults } from '../../domain/pipeline/step-results.js'
import { LIMITS } from '../../domain/value/sizes.js'
import { sanitizeText } from '../../domain/value/text.js'
import { BULK_MS, call } from '../connection/call.js'
import type { Queryable, Row } from '../connection/connection.js'
import { toJobRow } from '../reads/job-lists.js'
import { pageBy } from '../reads/queues.js'
import type { Store } from '../store.js'
import type { EnqueueManner } from './enqueue.js'

/** Both texts are JSON: what was asked, and the array of steps. */
export async function enqueuePipeline(
  store: Store,
  { pipeline, steps }: { readonly pipeline: string; readonly steps: string },
  { wake, actor, tx }: EnqueueManner,
): Promise<{ id: string; resultJob: JobId | null }> {
  const values = [pipeline, steps, wake]
  const [row] =
    actor === undefined
      ? await call(store, ENQUEUE, values, tx)
      : await call(store, ENQUEUE_BY_HAND, [...values, actor], tx)
  return { id: String(row?.id), resultJob: idOf(row?.result_job) }
}

export async function findPipeline(store: Store, id: string, tx?: Queryable): Promise<Pipeline | undefined> {
  const [row] = await call(store, { invocation: 'find_pipeline_v1($1)', answerMs: BULK_MS }, [id], tx)
  return row && toPipeline(row)
}

/** Newest first; with `queues` only those all of whose jobs are in them. */
export async function listPipelines(
  store: Store,
  after: string | undefined,
  limit: number,
  queues: readonly string[] | undefined,
): Promise<Page<PipelineRow>> {
  const rows = await call(store, { invocation: 'list_pipelines_v1($1, $2, $3)' }, [
    after ?? null,
    limit,
    queues ?? null,
  ])
  return {
    rows: rows
      .filter((row) => row.id !== null)
      .map((row) => ({ ...standing(row), isCapped: row.is_capped as boolean })),
    next: (rows[0]?.next ?? null) as string | null,
  }
}

/** In the order of the graph. */
export async function listPipelineSteps(
  store: Store,
  id: string,
  after: JobId,
  limit: number,
): Promise<Page<PipelineStep>> {
  const rows = await call(store, { invocation: 'list_pipeline_steps_v1($1, $2, $3)' }, [id, after, limit])
  return pageBy(rows, limit, 'id', (row) => ({
    ...toJobRow(row),
    dependsOn: (row.depends_on as unknown[]).map(String),
    dependencies: row.dependencies as number,
    compensates: idOf(row.compensates),
    compensation: row.compensation as string | null,
  }))
}

/** How many jobs were cancelled, and whether one that was just being claimed lives on. */
export async function cancelPipeline(
  store: Store,
  id: string,
  { reason, actor }: { reason: string | null; actor: string | null },
  tx?: Queryable,
): Promise<{ cancelled: number; lives: boolean }> {
  const text = reason === null ? null : sanitizeText(reason, LIMITS.reasonBytes)
  const [row] = await call(
    store,
    { invocation: 'cancel_pipeline_v1($1, $2, $3)', answerMs: BULK_MS },
    [id, text, actor],
    tx,
  )
  return { cancelled: Number(row?.cancelled), lives: row?.lives === true }
}

/** How many steps are open again. */
export async function retryPipeline(store: Store, id: string, actor: string | null, tx?: Queryable): Promise<number> {
  const statement = { invocation: 'retry_pipeline_v1($1, $2)', value: 'steps', answerMs: BULK_MS }
  const [row] = await call(store, statement, [id, actor], tx)
  return Number(row?.steps)
}

/** undefined for a job that is no step of a pipeline with a graph. */
export async function stepResults(store: Store, id: JobId): Promise<StepResults | undefined> {
  const [row] = await call(store, { invocation: 'step_results_v1($1)' }, [id])
  return row as StepResults | undefined
}

/** Enqueues what follows the job, inside the transaction that completes it. `members` is a JSON array. */
export async function chainJobs(store: Store, job: ClaimedJob, members: string, tx: Queryable): Promise<void> {
  await call(store, CHAIN, [job.id, job.token, job.leaseId, members], tx)
}

const ENQUEUE = { invocation: 'enqueue_pipeline_v1($1::text::jsonb, $2::text::jsonb, $3)', answerMs: BULK_MS }
const ENQUEUE_BY_HAND = {
  invocation: 'enqueue_pipeline_as_operator_v1($1::text::jsonb, $2::text::jsonb, $3, $4)',
  answerMs: BULK_MS,
}
const CHAIN = { invocation: 'chain_jobs_v1($1, $2, $3, $4::text::jsonb)' }

function toPipeline(row: Row): Pipeline {
  return Object.freeze({ ...standing(row), input: row.input ?? null, queues: row.queues as string[] })
}

/** What lists know of a pipeline too. */
function standing(row: Row): Omit<Pipeline, 'input' | 'queues'> {
  const { waiting, pending, running, completed, failed, cancelled, superseded } = row as Record<string, number>
  return {
    id: String(row.id),
    name: row.name as string | null,
    onFailure: row.on_failure as OnFailure | null,
    state: row.state as PipelineState,
    jobs: { waiting, pending, running, completed, failed, cancelled, superseded } as Pipeline['jobs'],
    resultJob: idOf(row.result_job),
    stoppedBy: idOf(row.stopped_by),
    stoppedAt: row.stopped_at as Date | null,
    compensatedAt: row.compensated_at as Date | null,
    createdAt: row.created_at as Date,
  }
}

function idOf(value: unknown): JobId | null {
  return value === null || value === undefined ? null : String(value)
}
