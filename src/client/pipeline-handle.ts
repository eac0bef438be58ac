// An enqueued pipeline in the caller's hand.

import { setTimeout as pause } from 'node:timers/promises'
import { HoldfastError } from '../domain/error/errors.js'
import type { Job, JobId } from '../domain/job/job.js'
import { type Pipeline, type PipelineProgress, progressOf } from '../domain/pipeline/pipeline.js'
import type { EventHub } from '../observe/events.js'
import { findJob } from '../store/jobs/operator-calls.js'
import { cancelPipeline, findPipeline, retryPipeline } from '../store/jobs/pipelines.js'
import type { Store } from '../store/store.js'
import { isFinalState, type ResultOptions, untilFinal } from './until-final.js'

export interface PipelineHandle<Output = unknown> {
  readonly id: string
  /** The pipeline as it is now. */
  read(): Promise<Pipeline>
  /** How many of its jobs are in each state. */
  progress(): Promise<PipelineProgress>
  /**
   * Waits for the output of the step that `build` returned; where it returned none, for the end of all. Throws
   * PIPELINE_FAILED or PIPELINE_CANCELLED with the step in `details`, RESULT_TIMEOUT when the time is over (the pipeline goes
   * on), or the reason of an aborted `signal`.
   */
  result(options?: ResultOptions): Promise<Output>
  /** Ends all that has not ended; how many jobs that were. A pipeline that compensates begins to. */
  cancel(options?: { readonly reason?: string; readonly actor?: string }): Promise<number>
  /** Opens the steps that did not complete, and all after them, once nothing of the pipeline runs; how many these are. */
  retry(options?: { readonly actor?: string }): Promise<number>
}

// A job that is just being claimed while its pipeline is cancelled is met a moment later.
const CANCEL_TRIES = 20
const CANCEL_PAUSE_MS = 25

export function pipelineHandle<Output>(
  store: Store,
  events: EventHub,
  id: string,
  knownResult?: JobId | null,
): PipelineHandle<Output> {
  const read = async () => {
    const pipeline = await findPipeline(store, id)
    if (pipeline) return pipeline
    throw new HoldfastError('PIPELINE_NOT_FOUND', `there is no pipeline ${id}`, { details: { pipelineId: id } })
  }
  return Object.freeze({
    id,
    read,
    async progress() {
      return progressOf(await read())
    },
    async result(options: ResultOptions = {}) {
      const resultJob = knownResult === undefined ? (await read()).resultJob : knownResult
      if (resultJob === null) return endOf(await untilPipelineEnds(events, read, options))
      const job = await untilStepEnds(store, events, resultJob, options)
      if (job.state === 'completed') return job.output as Output
      throw await whyNot(store, await read(), job)
    },
    async cancel({ reason = null, actor = null }: { reason?: string | null; actor?: string | null } = {}) {
      let cancelled = 0
      for (let tries = 1; ; tries += 1) {
        const done = await cancelPipeline(store, id, { reason, actor })
        cancelled += done.cancelled
        if (!done.lives || tries === CANCEL_TRIES) return cancelled
        await pause(CANCEL_PAUSE_MS)
      }
    },
    retry: ({ actor = null }: { actor?: string | null } = {}) => retryPipeline(store, id, actor),
  })

  async function endOf(pipeline: Pipeline): Promise<Output> {
    if (pipeline.state === 'completed') return undefined as Output
    const stoppedBy = pipeline.stoppedBy === null ? undefined : await findJob(store, pipeline.stoppedBy)
    throw await whyNot(store, pipeline, stoppedBy)
  }
}

function untilPipelineEnds(events: EventHub, read: () => Promise<Pipeline>, options: ResultOptions): Promise<Pipeline> {
  return untilFinal({
    events,
    id: null,
    read,
    isFinal: ({ state }) => state !== 'running',
    late: (pipeline) => timedOut(`pipeline ${pipeline?.name ?? ''} is still running`, options),
    ...options,
  })
}

function untilStepEnds(store: Store, events: EventHub, id: JobId, options: ResultOptions): Promise<Job> {
  return untilFinal({
    events,
    id,
    read: async () => {
      const job = await findJob(store, id)
      if (job) return job
      throw new HoldfastError('JOB_NOT_FOUND', `there is no job ${id}`, { details: { jobId: id } })
    },
    isFinal: ({ state }) => isFinalState(state),
    late: (job) => timedOut(`step ${job?.step} (job ${id}) is still ${job?.state}`, options),
    ...options,
  })
}

function timedOut(what: string, { timeout }: ResultOptions): HoldfastError {
  return new HoldfastError('RESULT_TIMEOUT', `${what} after ${timeout}`, { details: { timeout } })
}

/** Prefers the step that stopped the pipeline to one that was cancelled because of it. */
async function whyNot(store: Store, { id, name, stoppedBy }: Pipeline, last: Job | undefined): Promise<HoldfastError> {
  const job = (stoppedBy !== null && (await findJob(store, stoppedBy))) || last
  const what = job ? `step ${job.step ?? job.type} (job ${job.id}) ${job.state}` : 'it did not complete'
  const code = job?.state === 'failed' ? 'PIPELINE_FAILED' : 'PIPELINE_CANCELLED'
  return new HoldfastError(code, `pipeline ${name ?? id}: ${what}: ${job?.error?.message ?? 'no reason given'}`, {
    details: { pipelineId: id, name, jobId: job?.id, step: job?.step, state: job?.state, error: job?.error },
  })
}
