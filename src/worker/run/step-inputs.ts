// Computes the input of a pipeline step before it runs.

import { type HoldfastError, isHoldfastError } from '../../domain/error/errors.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { PipelineDefinition } from '../../domain/pipeline/pipeline.js'
import { describeFailure } from '../../domain/run/failure.js'
import { failed, type Outcome, released } from '../../domain/run/outcome.js'
import type { RecentGraphs } from '../../pipeline/recent-graphs.js'
import { computeInput } from '../../pipeline/step-input.js'
import { isPassing } from '../../store/connection/translate-error.js'
import { stepResults } from '../../store/jobs/pipelines.js'
import type { Store } from '../../store/store.js'
import { type OnOutcome, outcomeOfAbort, type Run } from './runner.js'

/** The job with its input, or the outcome where there is no input. Never rejects. */
export async function withComputedInput(
  job: ClaimedJob,
  store: Store,
  pipelines: ReadonlyMap<string, PipelineDefinition>,
  graphs: RecentGraphs,
): Promise<ClaimedJob | Outcome> {
  try {
    const facts = job.facts ?? (await stepResults(store, job.id))
    if (!facts) return job
    const input = await computeInput(pipelines, facts, (definition, given) =>
      graphs.of(job.pipelineId as string, definition, given),
    )
    return { ...job, input, facts: undefined }
  } catch (error) {
    // The database failed, not the step: the attempt does not count.
    if (isPassing(error)) return released()
    const isPermanent = isHoldfastError(error, 'INVALID_INPUT')
    return failed(describeFailure(error), { kind: isPermanent ? 'never' : 'policy' })
  }
}

/** A run that starts when its input is known; an earlier abort ends it then. */
export function startComputedRun(
  job: ClaimedJob,
  computing: Promise<ClaimedJob | Outcome>,
  start: (job: ClaimedJob) => Run,
  onOutcome: OnOutcome,
): Run {
  let run: Run | undefined
  let reason: HoldfastError | undefined
  void computing.then((computed) => {
    if ('kind' in computed) onOutcome(computed)
    else if (reason) onOutcome(outcomeOfAbort(reason, reason))
    else run = start(computed)
  })
  const abort = (why: HoldfastError) => {
    reason ??= why
    run?.abort(why)
  }
  return { job, abort }
}
