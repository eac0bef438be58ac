// Pipelines: enqueue whole graphs, read, cancel and retry them, and what their steps need while they run.

import type { ClaimedJob, JobId } from '../../domain/job/job.js'
import type { Page } from '../../domain/operate/page.js'
import type { PipelineRow, PipelineStep } from '../../domain/operate/pipeline-views.js'
import { ON_FAILURE, PIPELINE_STATES, type Pipeline } from '../../domain/pipeline/pipeline.js'
import type { StepResults } from '../../domain/pipeline/step-results.js'
import { LIMITS } from '../../domain/value/sizes.js'
import { sanitizeText } from '../../domain/value/text.js'
import { BULK_MS, call, callOne } from '../connection/call.js'
import type { Queryable } from '../connection/connection.js'
import { toJobRow } from '../rows/job-rows.js'
import { pageBy } from '../rows/page.js'
import type { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'
import type { EnqueueManner } from './enqueue.js'

/** Both texts are JSON: the pipeline and the array of its steps. */
export async function enqueuePipeline(
  store: Store,
  { pipeline, steps }: { readonly pipeline: string; readonly steps: string },
  { wake, actor, tx }: EnqueueManner,
): Promise<{ id: string; resultJob: JobId | null }> {
  const values = [pipeline, steps, wake]
  const row =
    actor === undefined
      ? await callOne(store, ENQUEUE, values, tx)
      : await callOne(store, ENQUEUE_AS_OPERATOR, [...values, actor], tx)
  return { id: row.text('id'), resultJob: row.idOrNull('result_job') }
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
      .filter((row) => !row.isNull('id'))
      .map((row) => ({ ...toSummary(row), isCapped: row.boolean('is_capped') })),
    next: rows[0]?.textOrNull('next') ?? null,
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
  return pageBy(
    rows,
    limit,
    (row) => row.id('id'),
    (row) => ({
      ...toJobRow(row),
      dependsOn: row.ids('depends_on'),
      dependencies: row.number('dependencies'),
      compensates: row.idOrNull('compensates'),
      compensation: row.textOrNull('compensation'),
    }),
  )
}

/** How many jobs were cancelled; `lives` when one of them was being claimed meanwhile and goes on. */
export async function cancelPipeline(
  store: Store,
  id: string,
  { reason, actor }: { reason: string | null; actor: string | null },
  tx?: Queryable,
): Promise<{ cancelled: number; lives: boolean }> {
  const text = reason === null ? null : sanitizeText(reason, LIMITS.reasonBytes)
  const statement = { invocation: 'cancel_pipeline_v1($1, $2, $3)', answerMs: BULK_MS }
  const row = await callOne(store, statement, [id, text, actor], tx)
  return { cancelled: row.number('cancelled'), lives: row.boolean('lives') }
}

/** How many steps are pending or waiting again. */
export async function retryPipeline(store: Store, id: string, actor: string | null, tx?: Queryable): Promise<number> {
  const statement = { invocation: 'retry_pipeline_v1($1, $2)', value: 'steps', answerMs: BULK_MS }
  return (await callOne(store, statement, [id, actor], tx)).number('steps')
}

/** undefined for a job that is not a step of a pipeline with a graph. */
export async function stepResults(store: Store, id: JobId): Promise<StepResults | undefined> {
  const [row] = await call(store, { invocation: 'step_results_v1($1)' }, [id])
  return (
    row && {
      pipeline: row.text('pipeline'),
      input: row.json('input'),
      step: row.text('step'),
      compensates: row.textOrNull('compensates'),
      results: row.object('results') as StepResults['results'],
    }
  )
}

/** Enqueues the jobs that follow, inside the transaction that completes the job. `members` is a JSON array. */
export async function chainJobs(store: Store, job: ClaimedJob, members: string, tx: Queryable): Promise<void> {
  await call(store, CHAIN, [job.id, job.token, job.leaseId, members], tx)
}

const ENQUEUE = { invocation: 'enqueue_pipeline_v1($1::text::jsonb, $2::text::jsonb, $3)', answerMs: BULK_MS }
const ENQUEUE_AS_OPERATOR = {
  invocation: 'enqueue_pipeline_as_operator_v1($1::text::jsonb, $2::text::jsonb, $3, $4)',
  answerMs: BULK_MS,
}
const CHAIN = { invocation: 'chain_jobs_v1($1, $2, $3, $4::text::jsonb)' }

function toPipeline(row: RowReader): Pipeline {
  return Object.freeze({ ...toSummary(row), input: row.json('input'), queues: row.texts('queues') })
}

/** What a list shows of a pipeline. */
function toSummary(row: RowReader): Omit<Pipeline, 'input' | 'queues'> {
  return {
    id: row.text('id'),
    name: row.textOrNull('name'),
    onFailure: row.oneOfOrNull('on_failure', ON_FAILURE),
    state: row.oneOf('state', PIPELINE_STATES),
    jobs: {
      waiting: row.number('waiting'),
      pending: row.number('pending'),
      running: row.number('running'),
      completed: row.number('completed'),
      failed: row.number('failed'),
      cancelled: row.number('cancelled'),
      superseded: row.number('superseded'),
    },
    resultJob: row.idOrNull('result_job'),
    stoppedBy: row.idOrNull('stopped_by'),
    stoppedAt: row.momentOrNull('stopped_at'),
    compensatedAt: row.momentOrNull('compensated_at'),
    createdAt: row.moment('created_at'),
  }
}
