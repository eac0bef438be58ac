// What a client knows of the worker in its own process: whether that has room to start at once what is enqueued here.

import type { ClaimedJob } from '../domain/job/job.js'

export interface OwnWorker {
  /** Keeps room for so many jobs; undefined when they must wait their turn like anybody's. */
  reserve(type: string, queue: string, jobs: number): SlotReservation | undefined
}

/** Reserved room. Ends with take() or leave(), whichever comes first. */
export interface SlotReservation {
  readonly worker: string
  readonly queue: string
  /** Lets `ask` enqueue into its hands under a lease id of its own; what it stored without an answer is given back. */
  claim<T>(ask: (leaseId: string) => Promise<T>): Promise<T>
  take(jobs: readonly ClaimedJob[]): void
  leave(): void
}
