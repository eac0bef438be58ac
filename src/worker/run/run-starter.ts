// Starts the run of a job: in the worker's thread or in an isolate, after its input is computed where it depends on other steps.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { PipelineDefinition } from '../../domain/pipeline/pipeline.js'
import type { Logger } from '../../domain/run/context.js'
import type { Outcome } from '../../domain/run/outcome.js'
import type { Instrument } from '../../observe/instrument.js'
import { withFields } from '../../observe/log.js'
import { RecentGraphs } from '../../pipeline/recent-graphs.js'
import { isComputed } from '../../pipeline/step-input.js'
import type { Store } from '../../store/store.js'
import type { LeasedCalls } from '../leased-calls.js'
import type { Registry, RunnableJob } from '../registry.js'
import { ActiveRuns } from './active-runs.js'
import { startIsolatedRun } from './isolation/isolated-run.js'
import { JobLog } from './job-log.js'
import { type OnOutcome, type Run, startRun } from './runner.js'
import { startComputedRun, withComputedInput } from './step-inputs.js'

export interface RunStarterParts {
  readonly store: Store
  readonly registry: Registry
  readonly pipelines: ReadonlyMap<string, PipelineDefinition>
  readonly calls: LeasedCalls
  readonly log: Logger
  readonly instrument?: Instrument | undefined
}

export class RunStarter {
  readonly active = new ActiveRuns()
  readonly log: JobLog
  readonly #parts: RunStarterParts
  readonly #onFault: (doing: string, error: unknown) => void
  readonly #graphs = new RecentGraphs()

  constructor(parts: RunStarterParts, onFault: (doing: string, error: unknown) => void) {
    this.#parts = parts
    this.#onFault = onFault
    this.log = new JobLog(parts.store, onFault)
  }

  /** `onOutcome` is called once, after this has returned. */
  start(job: ClaimedJob, onOutcome: OnOutcome): void {
    const { registry, instrument } = this.#parts
    const definition = registry.handlerFor(job.type)
    if (instrument) {
      const begin = () => new Promise<Outcome>((resolve) => this.#begin(job, definition, resolve))
      void this.#instrumented(instrument, job, begin).then(onOutcome)
    } else {
      this.#begin(job, definition, onOutcome)
    }
  }

  #begin(job: ClaimedJob, definition: RunnableJob, onOutcome: OnOutcome): void {
    const { store, pipelines } = this.#parts
    const run = isComputed(job)
      ? startComputedRun(
          job,
          withComputedInput(job, store, pipelines, this.#graphs),
          (computed) => this.#startHandler(computed, definition, onOutcome),
          onOutcome,
        )
      : this.#startHandler(job, definition, onOutcome)
    this.active.add(run)
  }

  #startHandler(job: ClaimedJob, definition: RunnableJob, onOutcome: OnOutcome): Run {
    const { store, calls } = this.#parts
    const { isolation } = definition
    if (!isolation) return startRun(job, definition, calls, this.#openLog, onOutcome)
    const parts = { store, calls, log: this.#openLog(job), onFault: this.#onFault }
    return startIsolatedRun(job, definition, isolation, parts, onOutcome)
  }

  /** The outcome of the run, whatever the instrument does. */
  async #instrumented(instrument: Instrument, job: ClaimedJob, begin: () => Promise<Outcome>): Promise<Outcome> {
    let begun: Promise<Outcome> | undefined
    const start = () => {
      begun ??= begin()
      return begun
    }
    try {
      await instrument.run(job, start)
    } catch (error) {
      this.#onFault(`the instrument of job ${job.id}`, error)
    }
    return start()
  }

  readonly #openLog = (job: ClaimedJob): Logger =>
    this.log.loggerFor(job, withFields(this.#parts.log, { jobId: job.id, type: job.type, attempt: job.attempts }))
}
