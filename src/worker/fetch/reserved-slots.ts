// Slots reserved for jobs that this process is about to enqueue: such jobs are stored, claimed and started at once.

import type { ClaimedJob } from '../../domain/job/job.js'
import { monotonicMs } from '../monotonic.js'
import type { QueueFetcher } from './queue-fetcher.js'
import type { UnacknowledgedClaims } from './unacknowledged-claims.js'

export class ReservedSlots {
  readonly #worker: string
  readonly #take: (jobs: readonly ClaimedJob[], claimedAt: number) => void
  readonly #claims: UnacknowledgedClaims
  #open = 0
  #onEmpty: (() => void)[] = []

  constructor(
    worker: string,
    take: (jobs: readonly ClaimedJob[], claimedAt: number) => void,
    claims: UnacknowledgedClaims,
  ) {
    this.#worker = worker
    this.#claims = claims
    this.#take = take
  }

  /** undefined when the queue has other jobs that go first. */
  reserve(fetcher: QueueFetcher, jobs: number) {
    if (!fetcher.reserve(jobs)) return undefined
    this.#open += 1
    const reservedAt = monotonicMs()
    const leave = () => {
      fetcher.unreserve(jobs)
      this.#open -= 1
      if (this.#open === 0) for (const resolve of this.#onEmpty.splice(0)) resolve()
    }
    const take = (claimed: readonly ClaimedJob[]) => {
      // The jobs start before the slots are given up: their enqueuer waits for them.
      this.#take(claimed, reservedAt)
      leave()
    }
    const claim = <T>(ask: (leaseId: string) => Promise<T>) => this.#claims.claim(ask)
    return { worker: this.#worker, queue: fetcher.slots.queue, claim, take, leave }
  }

  /** Resolves when all reservations have been used or given up. */
  async empty(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve))
  }
}
