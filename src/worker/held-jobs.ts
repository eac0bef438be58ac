// The jobs that a worker has claimed and not come to the end of.

import type { ClaimedJob, JobId } from '../domain/job.js'
import type { Lease } from '../store/settle.js'

const FIRST_TOKEN = '1'

/**
 * By claim, not in one Map: one that jobs go through by the ten thousand leaves outgrown tables behind, each of which keeps the
 * next alive with all that it held, until the next full collection. Nearly every job would outlive its outcome.
 */
export class HeldJobs {
  readonly #claims = new Map<string, Map<JobId, ClaimedJob>>()

  get all(): ClaimedJob[] {
    return [...this.#claims.values()].flatMap((claim) => [...claim.values()])
  }

  /** Gives back what it was held under before, and is no longer. */
  add(job: ClaimedJob): ClaimedJob | undefined {
    const earlier = this.#earlier(job)
    if (earlier) this.remove(earlier)
    const claim = this.#claims.get(job.leaseId)
    if (claim) claim.set(job.id, job)
    else this.#claims.set(job.leaseId, new Map([[job.id, job]]))
    return earlier
  }

  has(job: ClaimedJob): boolean {
    return this.of(job) !== undefined
  }

  of({ id, leaseId }: Pick<Lease, 'id' | 'leaseId'>): ClaimedJob | undefined {
    return this.#claims.get(leaseId)?.get(id)
  }

  remove({ id, leaseId }: Pick<Lease, 'id' | 'leaseId'>): void {
    const claim = this.#claims.get(leaseId)
    if (claim?.delete(id) && claim.size === 0) this.#claims.delete(leaseId)
  }

  /** The tokens of a job grow with its claims: at the first there is nothing to look for. */
  #earlier({ id, token }: ClaimedJob): ClaimedJob | undefined {
    if (token === FIRST_TOKEN) return undefined
    for (const claim of this.#claims.values()) {
      const job = claim.get(id)
      if (job) return job
    }
    return undefined
  }
}
