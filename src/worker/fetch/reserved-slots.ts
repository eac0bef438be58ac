// Room that is kept for jobs which this process is about to enqueue: they start at once instead of being stored first and
// found afterwards.

import type { ClaimedJob } from '../../domain/job/job.js'
import { monotonicMs } from '../monotonic.js'
import type { QueueFetcher } from './queue-fetcher.js'

export class ReservedSlots {
  readonly #worker: string
  readonly #take: (jobs: readonly ClaimedJob[], claimedAt: number) => void
  readonly #claim: <T>(ask: (leaseId: string) => Promise<T>) => Promise<T>
  #open = 0
  #emptied: (() => void)[] = []

  constructor(
    worker: string,
    take: (jobs: readonly ClaimedJob[], claimedAt: number) => void,
    claim: <T>(ask: (leaseId: string) => Promise<T>) => Promise<T>,
  ) {
    this.#worker = worker
    this.#claim = claim
    this.#take = take
  }

  /** undefined when the lane has other work to do first. */
  reserve(lane: QueueFetcher, jobs: number) {
    if (!lane.reserve(jobs)) return undefined
    this.#open += 1
    const reservedAt = monotonicMs()
    const leave = () => {
      lane.unreserve(jobs)
      this.#open -= 1
      if (this.#open === 0) for (const resolve of this.#emptied.splice(0)) resolve()
    }
    const take = (claimed: readonly ClaimedJob[]) => {
      // They start first, and then the room is given up: somebody waits for them.
      this.#take(claimed, reservedAt)
      leave()
    }
    return { worker: this.#worker, queue: lane.queue, claim: this.#claim, take, leave }
  }

  /** Resolves when whoever was given room has taken or left it. */
  async empty(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => this.#emptied.push(resolve))
  }
}
