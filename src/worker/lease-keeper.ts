// Keeps the leases of what this worker holds, and its beat. Where a lease is gone, the run is told to stop.

import type { ClaimedJob, JobId } from '../domain/job.js'

export interface KeeperDeeds {
  renew(jobs: readonly ClaimedJob[]): Promise<boolean[]>
  beat(): Promise<void>
  /** The database says that another holds it, or that it is over. */
  onLost(job: ClaimedJob): void
  /** No renewal got through for too long: the lease may end at any moment. */
  onOverdue(job: ClaimedJob): void
  onFault(doing: string, error: unknown): void
}

interface Held {
  readonly job: ClaimedJob
  renewedAt: number
}

const TICK_MS = 1000
// Three chances before the lease ends, and the last fifth of it to stop in.
const RENEW_AT = 0.3
const GIVE_UP_AT = 0.8

export class LeaseKeeper {
  readonly #deeds: KeeperDeeds
  readonly #held = new Map<JobId, Held>()
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> | undefined

  constructor(deeds: KeeperDeeds) {
    this.#deeds = deeds
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#ticking ??= this.runOnce().finally(() => {
        this.#ticking = undefined
      })
    }, TICK_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#ticking
  }

  /** `claimedAt`: when the claim was sent, so that the time it took counts against the lease. */
  hold(job: ClaimedJob, claimedAt: number): void {
    this.#held.set(job.id, { job, renewedAt: claimedAt })
  }

  drop(job: ClaimedJob): void {
    // The same job may be held again already, under another lease.
    if (this.#held.get(job.id)?.job.leaseId === job.leaseId) this.#held.delete(job.id)
  }

  async runOnce(): Promise<void> {
    const { renew, beat, onLost, onOverdue, onFault } = this.#deeds
    const sentAt = performance.now()
    const due = [...this.#held.values()].filter(({ job, renewedAt }) => sentAt - renewedAt > job.leaseMs * RENEW_AT)
    try {
      await beat()
      const verdicts = due.length === 0 ? [] : await renew(due.map(({ job }) => job))
      due.forEach((held, i) => {
        if (verdicts[i]) held.renewedAt = sentAt
        else if (this.#held.get(held.job.id) === held) {
          this.#held.delete(held.job.id)
          onLost(held.job)
        }
      })
    } catch (error) {
      onFault(`renewing ${due.length} leases`, error)
    }
    for (const held of this.#held.values()) {
      if (performance.now() - held.renewedAt < held.job.leaseMs * GIVE_UP_AT) continue
      this.#held.delete(held.job.id)
      onOverdue(held.job)
    }
  }
}
