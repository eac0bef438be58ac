// Takes claimed jobs through run and settle, and holds their leases meanwhile.

import { JobCancelled, JobSuperseded, LeaseLost, Shutdown } from '../domain/abort-reasons.js'
import type { Logger } from '../domain/context.js'
import type { HoldfastError } from '../domain/errors.js'
import type { ClaimedJob } from '../domain/job.js'
import { type Outcome, released } from '../domain/outcome.js'
import type { EventHub, JobFact } from '../observe/events.js'
import { withFields } from '../observe/log.js'
import { findJob } from '../store/jobs.js'
import type { Store } from '../store/open.js'
import { assertLease, completeJob, renewLeases, reportProgress } from '../store/settle.js'
import { LeaseKeeper } from './lease-keeper.js'
import type { Registry } from './registry.js'
import { type LeasedDeeds, type Run, startRun } from './runner.js'
import { Settler } from './settler.js'

export interface JobRunsParts {
  readonly store: Store
  readonly registry: Registry
  readonly events: EventHub
  readonly log: Logger
  readonly worker: string
  beat(): Promise<void>
}

// Finished runs that are not yet written down; beyond this a slot waits for its own outcome.
const MOST_UNSETTLED = 1000
// After a handler was told to stop, how long stop() waits for it to do so.
const ABORT_MS = 2000

export class JobRuns {
  readonly #parts: JobRunsParts
  readonly #deeds: LeasedDeeds
  readonly #keeper: LeaseKeeper
  readonly #settler: Settler
  readonly #runs = new Map<ClaimedJob, Run>()
  readonly #ending = new Set<Promise<unknown>>()
  #unsettled = 0

  constructor(parts: JobRunsParts) {
    this.#parts = parts
    this.#deeds = leasedDeeds(parts.store)
    this.#settler = new Settler(parts.store, this.fault)
    this.#keeper = new LeaseKeeper({
      renew: (jobs) => renewLeases(parts.store, jobs),
      beat: () => parts.beat(),
      onLost: (job) => void this.#tellWhyLost(job),
      onOverdue: (job) => this.#abort(job, new LeaseLost(`no renewal of job ${job.id} got through in time`)),
      onFault: this.fault,
    })
  }

  start(): void {
    this.#keeper.start()
  }

  /** From now on the lease is renewed. `claimedAt`: when the claim was sent. */
  hold(job: ClaimedJob, claimedAt: number): void {
    this.#keeper.hold(job, claimedAt)
    this.#parts.events.emit('job.claimed', factOf(job))
  }

  /** Runs a held job; resolves when its slot is free again. Writing the outcome down goes on behind. */
  async work(job: ClaimedJob): Promise<void> {
    const settled = this.#settle(await this.#run(job))
    if (this.#unsettled > MOST_UNSETTLED) await settled
  }

  /** Runs a held job and waits until its outcome is written down. */
  async workThrough(job: ClaimedJob): Promise<void> {
    await this.#settle(await this.#run(job))
  }

  /** Gives held jobs back that were never started. */
  giveBack(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) void this.#settle({ job, outcome: released(), ms: 0 })
  }

  /** Lets runs end within the grace, then signals them; what does not heed is given back and fenced. */
  async stop(graceMs: number): Promise<void> {
    await this.#runsEnded(graceMs)
    for (const run of this.#runs.values()) run.abort(new Shutdown('the worker is stopping'))
    await this.#runsEnded(ABORT_MS)
    this.giveBack([...this.#runs.keys()])
    await this.#settler.drain({ giveUp: true })
    await Promise.all(this.#ending)
    await this.#keeper.stop()
  }

  /** Tells of something that failed in the worker itself. */
  readonly fault = (doing: string, error: unknown): void => {
    const { log, events, worker } = this.#parts
    log.warn({ worker, err: error }, `${doing} failed`)
    events.emit('worker.fault', { worker, doing, error })
  }

  async #run(job: ClaimedJob): Promise<Ended> {
    const { registry, log } = this.#parts
    const startedAt = performance.now()
    const fields = { jobId: job.id, type: job.type, attempt: job.attempts }
    const run = startRun(job, registry.handlerFor(job.type), this.#deeds, withFields(log, fields))
    this.#runs.set(job, run)
    const outcome = await run.outcome
    this.#runs.delete(job)
    return { job, outcome, ms: performance.now() - startedAt }
  }

  #settle(ended: Ended): Promise<void> {
    this.#unsettled += 1
    const settled = this.#settler.settle(ended.job, ended.outcome).then((isAccepted) => {
      this.#unsettled -= 1
      this.#ending.delete(settled)
      this.#keeper.drop(ended.job)
      tell(this.#parts, ended, isAccepted ?? false)
    })
    this.#ending.add(settled)
    return settled
  }

  async #runsEnded(ms: number): Promise<void> {
    const ended = Promise.all([...this.#runs.values()].map((run) => run.outcome))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([ended, late])
    clearTimeout(timer)
  }

  #abort(job: ClaimedJob, reason: HoldfastError): void {
    this.#runs.get(job)?.abort(reason)
  }

  /** The lease is gone; the handler learns by what. */
  async #tellWhyLost(job: ClaimedJob): Promise<void> {
    const state = (await findJob(this.#parts.store, job.id).catch(() => undefined))?.state
    if (state === 'cancelled') this.#abort(job, new JobCancelled(`job ${job.id} was cancelled`))
    else if (state === 'superseded') this.#abort(job, new JobSuperseded(`a newer job took the place of job ${job.id}`))
    else this.#abort(job, new LeaseLost(`job ${job.id} is no longer held by this worker`))
  }
}

interface Ended {
  readonly job: ClaimedJob
  readonly outcome: Outcome
  readonly ms: number
}

function leasedDeeds(store: Store): LeasedDeeds {
  return {
    progress: (job, share, message) => reportProgress(store, job, share, message),
    tx: async (job, work) => {
      const database = await store.open()
      return database.transaction(async (tx) => {
        await assertLease(store, job, tx)
        return work(tx)
      })
    },
    complete: (job, tx, output) => completeJob(store, job, output, tx),
  }
}

function factOf(job: ClaimedJob): JobFact {
  return { id: job.id, type: job.type, queue: job.queue, attempt: job.attempts }
}

function tell({ events, log, worker }: JobRunsParts, { job, outcome, ms }: Ended, isAccepted: boolean): void {
  const fact = factOf(job)
  if (!isAccepted) {
    log.info({ worker, jobId: job.id, attempt: job.attempts }, 'the outcome was refused: another holds the job')
    events.emit('job.lost', { ...fact, code: 'LEASE_LOST' })
  } else if (outcome.kind === 'completed') {
    events.emit('job.completed', { ...fact, ms })
  } else if (outcome.kind === 'failed') {
    const isFinal = outcome.retry.kind === 'never' || job.attempts >= job.maxAttempts
    events.emit('job.failed', { ...fact, ms, failure: outcome.failure, isFinal })
  } else if (outcome.kind === 'snoozed') {
    events.emit('job.snoozed', { ...fact, delayMs: outcome.delayMs })
  } else if (outcome.kind === 'cancelled') {
    events.emit('job.cancelled', { ...fact, reason: outcome.reason })
  } else if (outcome.kind === 'released') {
    events.emit('job.released', fact)
  } else {
    outcome.kind satisfies 'lost' // never accepted: nothing was written
  }
}
