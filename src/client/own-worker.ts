// The worker in the same process: it can start a new job at once when it has a free slot.

import type { ClaimedJob } from '../domain/job/job.js'

export interface OwnWorker {
  /** Reserves slots for new jobs; undefined when they must wait for their turn. */
  reserve(type: string, queue: string, jobs: number): SlotReservation | undefined
}

/** The reservation ends with take() or leave(). */
export interface SlotReservation {
  readonly worker: string
  readonly queue: string
  /** Lets `ask` enqueue and claim under a new lease id; jobs whose answer does not arrive are released. */
  claim<T>(ask: (leaseId: string) => Promise<T>): Promise<T>
  take(jobs: readonly ClaimedJob[]): void
  leave(): void
}
