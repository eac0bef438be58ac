// The leases of the jobs that a worker has claimed and not settled.

import type { ClaimedJob, JobId } from '../../domain/job/job.js'
import type { Lease } from '../../store/jobs/settle.js'

const FIRST_TOKEN = '1'

/** The unsettled jobs of one claim. Their leases are renewed together. */
export interface HeldClaim {
  readonly jobs: ReadonlyMap<JobId, ClaimedJob>
  /** When the latest successful renewal was sent, or the claim itself, by monotonicMs(). */
  renewedAt: number
}

interface OpenClaim extends HeldClaim {
  readonly jobs: Map<JobId, ClaimedJob>
}

/**
 * One Map per claim, not one for all jobs: a Map that grows and shrinks by ten thousands leaves outgrown tables behind, and each
 * keeps the next alive with its jobs until the next full garbage collection.
 */
export class HeldLeases {
  readonly #claims = new Map<string, OpenClaim>()
  // Most calls are about the same claim as the one before.
  #latest: { readonly leaseId: string; readonly claim: OpenClaim } | undefined
  #shortestLeaseMs = Number.POSITIVE_INFINITY

  get claims(): HeldClaim[] {
    return [...this.#claims.values()]
  }

  /** Of all leases that were ever held. */
  get shortestLeaseMs(): number {
    return this.#shortestLeaseMs
  }

  /** `claimedAt`: when the claim was sent. Returns the same jobs as they were held under earlier claims, now no longer. */
  add(jobs: readonly ClaimedJob[], claimedAt: number): readonly ClaimedJob[] {
    let earlier = NONE
    for (const job of jobs) {
      const before = this.#heldEarlier(job)
      if (before) {
        this.remove(before)
        earlier = [...earlier, before]
      }
      const claim = this.#claimOf(job)
      if (claim) claim.jobs.set(job.id, job)
      else this.#claims.set(job.leaseId, { jobs: new Map([[job.id, job]]), renewedAt: claimedAt })
      this.#shortestLeaseMs = Math.min(this.#shortestLeaseMs, job.leaseMs)
    }
    return earlier
  }

  has(job: Pick<Lease, 'id' | 'leaseId'>): boolean {
    return this.#claimOf(job)?.jobs.has(job.id) ?? false
  }

  /** false when it was not held any more. */
  remove(job: Pick<Lease, 'id' | 'leaseId'>): boolean {
    const claim = this.#claimOf(job)
    if (!claim?.jobs.delete(job.id)) return false
    if (claim.jobs.size === 0) {
      this.#claims.delete(job.leaseId)
      this.#latest = undefined
    }
    return true
  }

  #claimOf({ leaseId }: Pick<Lease, 'leaseId'>): OpenClaim | undefined {
    if (this.#latest?.leaseId === leaseId) return this.#latest.claim
    const claim = this.#claims.get(leaseId)
    if (claim) this.#latest = { leaseId, claim }
    return claim
  }

  /** The token of a job grows with its claims: the first claim has no earlier one. */
  #heldEarlier({ id, token }: ClaimedJob): ClaimedJob | undefined {
    if (token === FIRST_TOKEN) return undefined
    for (const { jobs } of this.#claims.values()) {
      const job = jobs.get(id)
      if (job) return job
    }
    return undefined
  }
}

const NONE: readonly ClaimedJob[] = []
