// The jobs that a worker has claimed and not come to the end of.

import type { ClaimedJob, JobId } from '../../domain/job/job.js'
import type { Lease } from '../../store/jobs/settle.js'

const FIRST_TOKEN = '1'

/** What is left of one claim. Its leases are renewed together. */
export interface HeldClaim {
  readonly jobs: ReadonlyMap<JobId, ClaimedJob>
  /** When the last renewal was sent that got through, or the claim itself, by monotonicMs(). */
  renewedAt: number
}

interface OpenClaim extends HeldClaim {
  readonly jobs: Map<JobId, ClaimedJob>
}

/**
 * By claim, not in one Map: one that jobs go through by the ten thousand leaves outgrown tables behind, each of which keeps the
 * next alive with all that it held, until the next full collection. Nearly every job would outlive its outcome.
 */
export class HeldLeases {
  readonly #claims = new Map<string, OpenClaim>()
  // Jobs of a claim come after each other: most are of the same one as the last that was asked for.
  #latest: { readonly leaseId: string; readonly claim: OpenClaim } | undefined
  #shortestLeaseMs = Number.POSITIVE_INFINITY

  get claims(): HeldClaim[] {
    return [...this.#claims.values()]
  }

  /** Of all that were ever held. */
  get shortestLeaseMs(): number {
    return this.#shortestLeaseMs
  }

  /** `claimedAt`: when the claim was sent. Gives back what the job was held under before, and is no longer. */
  add(job: ClaimedJob, claimedAt: number): ClaimedJob | undefined {
    const earlier = this.#earlier(job)
    if (earlier) this.remove(earlier)
    const claim = this.#claimOf(job)
    if (claim) claim.jobs.set(job.id, job)
    else this.#claims.set(job.leaseId, { jobs: new Map([[job.id, job]]), renewedAt: claimedAt })
    this.#shortestLeaseMs = Math.min(this.#shortestLeaseMs, job.leaseMs)
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

  /** The tokens of a job grow with its claims: at the first there is nothing to look for. */
  #earlier({ id, token }: ClaimedJob): ClaimedJob | undefined {
    if (token === FIRST_TOKEN) return undefined
    for (const { jobs } of this.#claims.values()) {
      const job = jobs.get(id)
      if (job) return job
    }
    return undefined
  }
}
