// What a worker does for its lanes. Methods, not functions made anew for each worker: what the engine has compiled for the lanes
// of one serves those of the next.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { EventHub } from '../../observe/events.js'
import { type Batch, claimBatch, type Look } from '../../store/jobs/claim.js'
import type { WorkerRow } from '../../store/jobs/workers.js'
import type { Store } from '../../store/store.js'
import type { JobRuns } from '../job-life.js'
import { monotonicMs } from '../monotonic.js'
import type { Backpressure } from './backpressure.js'
import type { QueueFetcherCalls, SlotOwner } from './queue-fetcher.js'
import type { WakeUp } from './wake-up.js'

export interface ClaimForQueueParts {
  readonly store: Store
  readonly events: EventHub
  readonly row: WorkerRow
  readonly runs: JobRuns
  readonly wakeup: WakeUp
  readonly backpressure: Backpressure | undefined
}

export class ClaimForQueue implements QueueFetcherCalls {
  readonly #parts: ClaimForQueueParts

  constructor(parts: ClaimForQueueParts) {
    this.#parts = parts
  }

  async claim(queue: string, n: number, look: Look): Promise<Batch> {
    const { store, events, row, runs } = this.#parts
    await runs.whenHealthy()
    const claimedAt = monotonicMs()
    const { id: worker, types } = row
    const batch = await runs.claim((leaseId) => claimBatch(store, { worker, queue, types, n, leaseId, ...look }))
    events.emit('worker.claimed', { worker, queue, jobs: batch.jobs.length, ms: monotonicMs() - claimedAt })
    await runs.hold(batch.jobs, claimedAt)
    return batch
  }

  run(job: ClaimedJob, startedAt: number, owner: SlotOwner): void {
    this.#parts.runs.work(job, startedAt, owner)
  }

  giveBack(jobs: readonly ClaimedJob[]): void {
    this.#parts.runs.giveBack(jobs)
  }

  sleep(): Promise<void> {
    return this.#parts.wakeup.sleep()
  }

  share(): number {
    return this.#parts.backpressure?.share ?? 1
  }

  onFault(doing: string, error: unknown): void {
    this.#parts.runs.onFault(doing, error)
  }
}
