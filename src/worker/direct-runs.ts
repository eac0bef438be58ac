// Runs single jobs by id, beside any worker. These runs need lease renewal too, but serve no queue and so have no row in the
// table of workers.

import type { JobId } from '../domain/job/job.js'
import { claimOne } from '../store/jobs/claim.js'
import { JobLife, type JobLifeParts } from './job-life.js'
import { monotonicMs } from './monotonic.js'
import type { RenewalOptions } from './options.js'

export class DirectRuns {
  readonly #parts: JobLifeParts
  readonly #life: JobLife
  readonly #opened: Promise<void>

  constructor(parts: JobLifeParts, renewal: RenewalOptions) {
    this.#parts = parts
    this.#life = new JobLife(parts)
    this.#opened = this.#life.open(undefined, { ...renewal, shortestLeaseMs: 0 })
  }

  /** Claims, runs and settles the job; false when another worker has it or it is not eligible. */
  async run(id: JobId): Promise<boolean> {
    await this.#opened
    const claimedAt = monotonicMs()
    const { store, worker, registry } = this.#parts
    const job = await this.#life.claims.claim((leaseId) =>
      claimOne(store, id, { worker, types: registry.types, leaseId }),
    )
    if (!job) return false
    await this.#life.accept([job], claimedAt)
    await this.#life.run(job)
    return true
  }

  async stop(graceMs: number): Promise<void> {
    await this.#opened
    await this.#life.stop(graceMs)
  }
}
