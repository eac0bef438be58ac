// The page to read first: one claimed job from its claim to its announcement. The steps are in this order, each a call into one
// of the four rooms: accepted, started, freed, settled, dropped, announced. No room calls another.
// Steps call back instead of returning promises: each promise per job costs as much as a handler that does nothing.

import type { ClaimedJob } from '../domain/job/job.js'
import type { WorkerDescription } from '../domain/operate/worker-views.js'
import type { Logger } from '../domain/run/context.js'
import { type Outcome, released } from '../domain/run/outcome.js'
import type { EventHub } from '../observe/events.js'
import { releaseClaims } from '../store/jobs/claim.js'
import type { WorkerLoad } from '../store/jobs/workers.js'
import { UnacknowledgedClaims } from './fetch/unacknowledged-claims.js'
import { HeldLeases } from './lease/held-leases.js'
import { RenewalHealth } from './lease/renewal-health.js'
import { type Renewal, type RenewalListener, startRenewal } from './lease/start-renewal.js'
import { monotonicMs } from './monotonic.js'
import type { RenewalOptions } from './options.js'
import { RunStarter, type RunStarterParts } from './run/run-starter.js'
import { Announcer } from './settle/announce.js'
import { type HandoffReceiver, OutcomeWriter } from './settle/outcome-writer.js'
import { type EndedRun, Settler, type SettlerListener } from './settle/settler.js'

export interface JobLifeParts extends RunStarterParts {
  readonly events: EventHub
  readonly log: Logger
  readonly worker: string
  /** Takes jobs that are claimed with the completion of another; absent where none are wanted. */
  readonly receiver?: HandoffReceiver | undefined
  /** Jobs may have become claimable. */
  readonly onReleased?: () => void
  /** What a heartbeat shows of other workers; absent where no reaper runs. */
  readonly heartbeats?: HeartbeatListener | undefined
}

export type HeartbeatListener = Pick<RenewalListener, 'silence' | 'unanswered'>

/** Where a job runs. The fact that it is free again is all that it learns. */
export interface Slot {
  freed(startedAt: number, freedAt: number): void
}

const NO_SLOT: Slot = { freed() {} }

export class JobLife implements SettlerListener {
  /** Step 0: every claim of this worker has a lease id of its own, which also finds the jobs of a claim without an answer. */
  readonly claims: UnacknowledgedClaims
  readonly health = new RenewalHealth()
  readonly #parts: JobLifeParts
  readonly #leases = new HeldLeases()
  readonly #runs: RunStarter
  readonly #settler: Settler
  readonly #announcer: Announcer
  #renewal: Renewal | undefined

  constructor(parts: JobLifeParts) {
    const { store, worker, registry } = parts
    this.#parts = parts
    this.#announcer = new Announcer(parts)
    this.#runs = new RunStarter(parts, this.onFault)
    this.#settler = new Settler(new OutcomeWriter(store, { worker, types: registry.types }, parts.receiver), this)
    this.claims = new UnacknowledgedClaims({
      release: (leaseIds) => releaseClaims(store, worker, leaseIds),
      onReleased: () => parts.onReleased?.(),
      onFault: this.onFault,
    })
  }

  /**
   * 1. Accepted: from now on the leases are renewed. `claimedAt`: when the claim was sent, by monotonicMs(). Where the database
   * answered the claim before it answered the settlement of an earlier run, the jobs may start when the promise resolves.
   */
  accept(jobs: readonly ClaimedJob[], claimedAt: number): Promise<void> | undefined {
    const earlier = this.#leases.add(jobs, claimedAt)
    this.#renewal?.leasesAdded()
    const settled = this.#settler.whenSettled(earlier)
    if (settled) return settled.then(() => this.#announcer.claimed(jobs))
    this.#announcer.claimed(jobs)
    return undefined
  }

  /** 2. Started: the handler runs. `startedAt` is of performance.now(), which a short job cannot afford to read twice. */
  start(job: ClaimedJob, startedAt: number, slot: Slot, done?: () => void): void {
    // The lease was lost while the job waited for a slot: another worker may be running it.
    if (!this.#leases.has(job)) {
      queueMicrotask(() => slot.freed(startedAt, startedAt))
      done?.()
      return
    }
    this.#announcer.started(job)
    this.#runs.start(job, (outcome) => this.#ended(job, outcome, startedAt, slot, done))
  }

  /** 3. Freed: the slot takes the next job at once, or when the settler's backlog is short again. 4. Then settled. */
  #ended(job: ClaimedJob, outcome: Outcome, startedAt: number, slot: Slot, done: (() => void) | undefined): void {
    this.#runs.active.remove(job)
    const endedAt = performance.now()
    const backlog = this.#settler.backlog()
    if (backlog) void backlog.then(() => slot.freed(startedAt, performance.now()))
    else slot.freed(startedAt, endedAt)
    this.#settler.push({ job, outcome, ms: endedAt - startedAt, done })
  }

  /** 5. Dropped: the lease is no longer renewed. 6. Announced. */
  onSettled(ended: EndedRun, isWritten: boolean): void {
    this.#leases.remove(ended.job)
    this.#announcer.settled(ended, isWritten)
  }

  /** Steps 2 to 6 for a job without a slot; resolves when it is settled. */
  run(job: ClaimedJob): Promise<void> {
    return new Promise((done) => this.start(job, performance.now(), NO_SLOT, done))
  }

  /** Steps 4 to 6 for accepted jobs that are returned to the queue. */
  release(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.#settler.push({ job, outcome: released(), ms: 0, done: undefined })
  }

  /**
   * Registers the worker of this row; runs without a worker have none and send no heartbeat. Resolves when leases of
   * `shortestLeaseMs` and longer may be claimed.
   */
  async open(
    row: WorkerDescription | undefined,
    options: RenewalOptions & { readonly shortestLeaseMs: number },
  ): Promise<void> {
    const { store, heartbeats } = this.#parts
    const listener: RenewalListener = {
      lost: (job, reason) => this.#runs.active.of(job)?.abort(reason),
      healthy: (isHealthy) => this.health.set(isHealthy),
      silence: (inMs) => heartbeats?.silence(inMs),
      unanswered: () => heartbeats?.unanswered(),
      fault: this.onFault,
    }
    this.#renewal = await startRenewal(store, row, this.#leases, listener, options)
  }

  /** The load of the process, sent with the next heartbeat. */
  report(load: WorkerLoad): void {
    this.#renewal?.report(load)
  }

  /** true when nothing runs and all outcomes are written, false when runs take longer than `ms`. */
  async idle(ms: number): Promise<boolean> {
    await this.#runs.active.endWithin(ms)
    if (this.#runs.active.size > 0) return false
    await this.#settler.drain()
    return true
  }

  /** Resolves what claims wait for, so that stop() is not kept waiting by them. */
  stopWaiting(): void {
    this.health.stopWaiting()
    this.#settler.stopWaiting()
  }

  /** Lets runs end within the grace, then signals them. Jobs that still run are released; their late outcomes are refused. */
  async stop(graceMs: number): Promise<void> {
    const graceEndsAt = monotonicMs() + graceMs
    await this.#runs.active.stop(graceMs)
    this.release(this.#runs.active.jobs)
    await this.#settler.drain({ giveUp: true })
    await this.claims.stop(graceEndsAt - monotonicMs())
    await this.#runs.log.flush()
    await this.#renewal?.stop()
    this.#settler.close()
  }

  /** Something of the worker's own failed. */
  readonly onFault = (doing: string, error: unknown): void => this.#announcer.fault(doing, error)
}
