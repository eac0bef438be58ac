// The one place where filters, jobs, pipelines and queues are cut down to what a principal may see and search.

import type { Client } from '../client/client.js'
import { HoldfastError, isHoldfastError } from '../domain/error/errors.js'
import { parseFilter } from '../domain/job/filter-language.js'
import type { Job, JobId } from '../domain/job/job.js'
import { toJobId } from '../domain/job/job.js'
import { checkPipelineId, type JobFilter } from '../domain/job/job-filter.js'
import type { Pipeline } from '../domain/pipeline/pipeline.js'
import type { Caller } from './principal.js'
import type { Redaction } from './redaction.js'

/** undefined: the principal sees none of the queues that the filter names, so nothing can fit. */
export function scopedFilter(text: string, caller: Caller, redaction: Redaction): JobFilter | undefined {
  const filter = parseFilter(text)
  checkSearch(filter, caller, redaction)
  if (caller.queues === undefined) return filter
  const queues = filter.queues ? filter.queues.filter((queue) => caller.sees(queue)) : caller.queues
  return queues.length === 0 ? undefined : { ...filter, queues }
}

/** A search by value answers whether the value is there: who may not see it may not ask. */
function checkSearch({ input, types }: JobFilter, caller: Caller, redaction: Redaction): void {
  if (!input || input.length === 0) return
  caller.require('view_input')
  for (const { path } of input) {
    const isRedacted = (types ?? [undefined]).some((type) => redaction.touches(type, path))
    if (!isRedacted) continue
    const where = path.join('.')
    throw new HoldfastError('FORBIDDEN', `input.${where} is redacted and cannot be searched`, {
      details: { path: where },
    })
  }
}

/** The id of a job that exists for this principal; throws JOB_NOT_FOUND for one that does not, whatever the reason. */
export async function visibleJob(client: Client, caller: Caller, given: string): Promise<Job> {
  const id = toJobId(given)
  const job = await client.find(id)
  if (job && caller.sees(job.queue)) return job
  throw jobNotFound(id)
}

export function jobNotFound(id: JobId): HoldfastError {
  return new HoldfastError('JOB_NOT_FOUND', `there is no job ${id}`, { details: { jobId: id } })
}

/**
 * A pipeline is seen whole or not at all: one with a job in a queue that the principal does not see does not exist for it.
 * Throws PIPELINE_NOT_FOUND.
 */
export async function visiblePipeline(client: Client, caller: Caller, given: string): Promise<Pipeline> {
  const id = checkPipelineId(given)
  const pipeline = await findPipeline(client, id)
  if (pipeline && isVisiblePipeline(pipeline, caller.queues)) return pipeline
  throw new HoldfastError('PIPELINE_NOT_FOUND', `there is no pipeline ${id}`, { details: { pipelineId: id } })
}

/** undefined when there is none. */
export async function findPipeline(client: Client, id: string): Promise<Pipeline | undefined> {
  try {
    return await client.pipeline(id).read()
  } catch (error) {
    if (isHoldfastError(error) && error.code === 'PIPELINE_NOT_FOUND') return undefined
    throw error
  }
}

/** `queues` are those that are seen; undefined: all. */
export function isVisiblePipeline(pipeline: Pipeline, queues: readonly string[] | undefined): boolean {
  return queues === undefined || pipeline.queues.every((queue) => queues.includes(queue))
}

export function checkVisibleQueue(caller: Caller, queue: string): string {
  if (caller.sees(queue)) return queue
  throw new HoldfastError('NOT_FOUND', `there is no queue ${JSON.stringify(queue)}`, { details: { queue } })
}
