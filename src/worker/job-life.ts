// Takes claimed jobs through run and settle, and holds their leases meanwhile.

import type { HoldfastError } from '../domain/error/errors.js'
import { JobCancelled, JobSuperseded, LeaseLost, Shutdown } from '../domain/job/abort-reasons.js'
import type { Logger } from '../domain/job/context.js'
import type { ClaimedJob } from '../domain/job/job.js'
import { type Outcome, type OutcomeOf, released } from '../domain/job/outcome.js'
import type { PipelineDefinition } from '../domain/pipeline/pipeline.js'
import type { EventHub, JobReference } from '../observe/events.js'
import type { Instrument } from '../observe/instrument.js'
import { withFields } from '../observe/log.js'
import { RecentGraphs } from '../pipeline/recent-graphs.js'
import { isComputed } from '../pipeline/step-input.js'
import { releaseClaims } from '../store/jobs/claim.js'
import { completeSteps } from '../store/jobs/complete-steps.js'
import { findJob } from '../store/jobs/operator-calls.js'
import type { Settlement } from '../store/jobs/settle.js'
import type { WorkerLoad, WorkerRow } from '../store/jobs/workers.js'
import type { Store } from '../store/store.js'
import type { SlotOwner } from './fetch/queue-fetcher.js'
import { UnacknowledgedClaims } from './fetch/unacknowledged-claims.js'
import { HeldLeases } from './lease/held-leases.js'
import type { LeaseRenewerListener } from './lease/lease-renewer.js'
import { type Renewal, type RenewalOptions, startRenewal } from './lease/start-renewal.js'
import { monotonicMs } from './monotonic.js'
import type { Registry, RunnableJob } from './registry.js'
import { ActiveRuns } from './run/active-runs.js'
import { startIsolatedRun } from './run/isolation/isolated-run.js'
import { JobLog } from './run/job-log.js'
import type { LeasedCalls } from './run/run-context.js'
import { type OnOutcome, type Run, startRun } from './run/runner.js'
import { startComputedRun, withComputedInput } from './run/step-inputs.js'
import { type Ended, Settler, type SettlerListener } from './settle/settler.js'

export interface JobRunsParts {
  readonly store: Store
  readonly registry: Registry
  readonly events: EventHub
  readonly log: Logger
  readonly worker: string
  readonly operations: LeasedCalls
  readonly instrument?: Instrument | undefined
  readonly pipelines: ReadonlyMap<string, PipelineDefinition>
  /** Takes jobs that were claimed with a completion; absent where none are wanted. */
  readonly receiver?: JobReceiver
  /** Looks for jobs at once; absent where nobody does. */
  readonly wake?: () => void
  /** Hears what the heartbeat tells of other workers; absent where nobody reaps. */
  readonly watch?: HeartbeatListener
}

export type HeartbeatListener = Pick<LeaseRenewerListener, 'silence' | 'unanswered'>

export interface JobReceiver {
  /** By queue, how many jobs could start at once. */
  room(): ReadonlyMap<string, number>
  take(jobs: readonly ClaimedJob[], claimedAt: number): void
}

// After a handler was told to stop, how long stop() waits for it to do so.
const ABORT_MS = 2000

export class JobRuns implements SettlerListener {
  readonly #parts: JobRunsParts
  readonly #settler: Settler
  readonly #logBook: JobLog
  readonly #graphs = new RecentGraphs()
  readonly #held = new HeldLeases()
  readonly #runs = new ActiveRuns()
  readonly #inDoubt: UnacknowledgedClaims
  readonly #untold = new Map<ClaimedJob, () => void>()
  #keeping: Renewal | undefined
  #isStopping = false
  #isOver = false
  #isHealthy = true
  #recovered: Promise<void> = Promise.resolve()
  #recover: (() => void) | undefined

  constructor(parts: JobRunsParts) {
    this.#parts = parts
    this.#settler = new Settler(parts.store, this)
    this.#logBook = new JobLog(parts.store, this.onFault)
    this.#inDoubt = new UnacknowledgedClaims({
      release: (leaseIds) => releaseClaims(parts.store, parts.worker, leaseIds),
      onReleased: () => parts.wake?.(),
      onFault: this.onFault,
    })
  }

  /**
   * Registers `row`, the worker that claims for these runs; without one there is no heartbeat to keep. `shortestLeaseMs`: of all that
   * they may be claimed with.
   */
  async start(
    row: WorkerRow | undefined,
    options: RenewalOptions & { readonly shortestLeaseMs: number },
  ): Promise<void> {
    const facts = {
      lost: (jobs: readonly ClaimedJob[]) => {
        for (const job of jobs) void this.#tellWhyLost(job)
      },
      overdue: (jobs: readonly ClaimedJob[]) => {
        for (const job of jobs) this.#abort(job, new LeaseLost(`no renewal of job ${job.id} got through in time`))
      },
      healthy: (isHealthy: boolean) => this.#setHealthy(isHealthy),
      silence: (inMs: number) => this.#parts.watch?.silence(inMs),
      unanswered: () => this.#parts.watch?.unanswered(),
      fault: this.onFault,
    }
    this.#keeping = await startRenewal(this.#parts.store, row, this.#held, facts, options)
  }

  /** false while leases could not be kept. */
  get isHealthy(): boolean {
    return this.#isHealthy
  }

  /** How the process fares; told with a heartbeat. */
  report(load: WorkerLoad): void {
    this.#keeping?.report(load)
  }

  /** Resolves at once, or when leases can be kept again. */
  whenHealthy(): Promise<void> {
    return this.#recovered
  }

  /** Lets those go who wait for leases to be kept or for earlier ends to be told: the worker is stopping. */
  stopWaiting(): void {
    this.#isStopping = true
    this.#recover?.()
    for (const goOn of this.#untold.values()) goOn()
  }

  /** true when nothing runs and all outcomes are written down, false when that takes longer than `ms`. */
  async idle(ms: number): Promise<boolean> {
    await this.#runsEnded(ms)
    if (this.#runs.size > 0) return false
    await this.#settler.drain()
    return true
  }

  /** Lets `ask` claim under a lease id of its own; what it took without an answer is given back. */
  claim<T>(ask: (leaseId: string) => Promise<T>): Promise<T> {
    return this.#inDoubt.claim(ask)
  }

  /**
   * From now on the leases are renewed. Resolves when the jobs may start.
   * `claimedAt`: when the claim was sent, by monotonicMs().
   */
  async hold(jobs: readonly ClaimedJob[], claimedAt: number): Promise<void> {
    // A claim can be answered before the settling that it follows: then the end of the last run is told first.
    const untold: ClaimedJob[] = []
    for (const job of jobs) {
      const before = this.#held.add(job, claimedAt)
      if (before && this.#settler.isAt(before)) untold.push(before)
    }
    this.#keeping?.look()
    if (untold.length > 0 && !this.#isStopping) await Promise.all(untold.map((job) => this.#told(job)))
    const { events } = this.#parts
    if (events.isHeard('job.claimed')) for (const job of jobs) events.emit('job.claimed', factOf(job))
  }

  /**
   * Runs a held job; `owner` hears when its slot is free again. Writing the outcome down goes on behind. Times are of
   * performance.now(), which short jobs would spend a tenth of their time on if everyone asked for it.
   */
  work(job: ClaimedJob, startedAt: number, owner: SlotOwner): void {
    // Lost while it waited in the stock: another may be running it already.
    if (!this.#held.has(job)) {
      queueMicrotask(() => owner.freed(startedAt, startedAt))
      return
    }
    this.#run(job, (outcome) => {
      this.#runs.remove(job)
      const endedAt = performance.now()
      this.#settle({ job, outcome, ms: endedAt - startedAt })
      const wait = this.#settler.backlog()
      if (wait) void wait.then(() => owner.freed(startedAt, performance.now()))
      else owner.freed(startedAt, endedAt)
    })
  }

  /** Runs a held job; resolves when its outcome is written down. */
  workThrough(job: ClaimedJob): Promise<void> {
    const startedAt = performance.now()
    return new Promise((done) => {
      this.#run(job, (outcome) => {
        this.#runs.remove(job)
        this.#settle({ job, outcome, ms: performance.now() - startedAt, done })
      })
    })
  }

  /** Gives held jobs back that were never started. */
  giveBack(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.#settle({ job, outcome: released(), ms: 0 })
  }

  /** Lets runs end within the grace, then signals them; what does not heed is given back and fenced. */
  async stop(graceMs: number): Promise<void> {
    const graceEndsAt = monotonicMs() + graceMs
    await this.#runsEnded(graceMs)
    this.#runs.abort(new Shutdown('the worker is stopping'))
    await this.#runsEnded(ABORT_MS)
    this.giveBack(this.#runs.jobs)
    await this.#settler.drain({ giveUp: true })
    await this.#inDoubt.stop(graceEndsAt - monotonicMs())
    await this.#logBook.flush()
    await this.#keeping?.stop()
    this.#isOver = true
  }

  onSettled(ended: Ended, verdict: boolean | undefined): void {
    const { job } = ended
    this.#held.remove(job)
    tell(this.#parts, ended, verdict ?? false)
    this.#untold.get(job)?.()
  }

  /** What comes after them and may run here is claimed in the same call. */
  completeSteps(batch: readonly Settlement<OutcomeOf<'completed'>>[]): Promise<boolean[]> {
    const { store, worker, registry, receiver } = this.#parts
    const claimedAt = monotonicMs()
    return completeSteps(store, batch, {
      worker,
      types: registry.types,
      room: receiver?.room() ?? new Map(),
      take: (handed) => receiver?.take(handed, claimedAt),
    })
  }

  readonly #openLog = (job: ClaimedJob): Logger =>
    this.#logBook.loggerFor(job, withFields(this.#parts.log, { jobId: job.id, type: job.type, attempt: job.attempts }))

  /** Tells of something that failed in the worker itself. */
  readonly onFault = (doing: string, error: unknown): void => {
    const { log, events, worker } = this.#parts
    log.warn({ worker, err: error }, `${doing} failed`)
    events.emit('worker.fault', { worker, doing, error })
  }

  #run(job: ClaimedJob, onOutcome: OnOutcome): void {
    const { registry, events, instrument } = this.#parts
    if (events.isHeard('job.started')) {
      events.emit('job.started', { ...factOf(job), waitMs: Math.max(0, Date.now() - job.dueAtMs) })
    }
    const definition = registry.handlerFor(job.type)
    if (instrument) {
      const begin = () => new Promise<Outcome>((resolve) => this.#begin(job, definition, resolve))
      void this.#lookedOn(instrument, job, begin).then(onOutcome)
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
          (asked) => this.#start(asked, definition, onOutcome),
          onOutcome,
        )
      : this.#start(job, definition, onOutcome)
    this.#runs.add(run)
  }

  #start(job: ClaimedJob, definition: RunnableJob, onOutcome: OnOutcome): Run {
    const { store, operations } = this.#parts
    const { isolation } = definition
    return isolation
      ? startIsolatedRun(job, definition, isolation, { store, operations, log: this.#openLog(job) }, onOutcome)
      : startRun(job, definition, operations, this.#openLog, onOutcome)
  }

  /** The run as it comes out, whatever becomes of the one who looks on. */
  async #lookedOn(instrument: Instrument, job: ClaimedJob, begin: () => Promise<Outcome>): Promise<Outcome> {
    let begun: Promise<Outcome> | undefined
    const start = () => {
      begun ??= begin()
      return begun
    }
    try {
      await instrument.run(job, start)
    } catch (error) {
      this.onFault(`looking on at job ${job.id}`, error)
    }
    return start()
  }

  #settle(ended: Ended): void {
    // Given back when the worker stopped: what its run came to since then is nobody's.
    if (this.#isOver) ended.done?.()
    else this.#settler.push(ended)
  }

  #told(job: ClaimedJob): Promise<void> {
    return new Promise((resolve) => {
      this.#untold.set(job, () => {
        this.#untold.delete(job)
        resolve()
      })
    })
  }

  async #runsEnded(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([this.#runs.ended(), late])
    clearTimeout(timer)
  }

  #abort(job: ClaimedJob, reason: HoldfastError): void {
    this.#runs.of(job)?.abort(reason)
  }

  #setHealthy(isHealthy: boolean): void {
    // Those who wait already go on waiting for the same.
    if (this.#isHealthy === isHealthy) return
    this.#isHealthy = isHealthy
    if (isHealthy) this.#recover?.()
    else {
      this.#recovered = new Promise((resolve) => {
        this.#recover = resolve
      })
    }
  }

  /** The lease is gone; the handler learns by what. */
  async #tellWhyLost(job: ClaimedJob): Promise<void> {
    const state = (await findJob(this.#parts.store, job.id).catch(() => undefined))?.state
    if (state === 'cancelled') this.#abort(job, new JobCancelled(`job ${job.id} was cancelled`))
    else if (state === 'superseded') this.#abort(job, new JobSuperseded(`a newer job took the place of job ${job.id}`))
    else this.#abort(job, new LeaseLost(`job ${job.id} is no longer held by this worker`))
  }
}

function factOf(job: ClaimedJob): JobReference {
  return { id: job.id, type: job.type, queue: job.queue, attempt: job.attempts }
}

/** Clocks differ a little: nothing starts before it is due. */
function tell({ events, log, worker }: JobRunsParts, { job, outcome, ms }: Ended, isAccepted: boolean): void {
  if (!isAccepted) {
    log.info({ worker, jobId: job.id, attempt: job.attempts }, 'the outcome was refused: another holds the job')
    events.emit('job.lost', { ...factOf(job), code: 'LEASE_LOST' })
  } else if (outcome.kind === 'completed') {
    if (events.isHeard('job.completed')) events.emit('job.completed', { ...factOf(job), ms })
  } else if (outcome.kind === 'failed') {
    const isFinal = outcome.retry.kind === 'never' || job.attempts >= job.maxAttempts
    events.emit('job.failed', { ...factOf(job), ms, failure: outcome.failure, isFinal })
  } else if (outcome.kind === 'snoozed') {
    events.emit('job.snoozed', { ...factOf(job), delayMs: outcome.delayMs })
  } else if (outcome.kind === 'suspended') {
    events.emit('job.suspended', { ...factOf(job), waits: outcome.waits })
  } else if (outcome.kind === 'cancelled') {
    events.emit('job.cancelled', { ...factOf(job), reason: outcome.reason })
  } else if (outcome.kind === 'released') {
    events.emit('job.released', factOf(job))
  } else {
    outcome.kind satisfies 'lost' // never accepted: nothing was written
  }
}
