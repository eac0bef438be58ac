// Room that is kept for jobs which this process is about to enqueue: they start at once instead of being stored first and
// found afterwards.

import type { ClaimedJob } from '../domain/job.js'
import type { Lane } from './lane.js'
import { monotonicMs } from './lease-keeper.js'

export class ReservedSeats {
  readonly #worker: string
  readonly #take: (jobs: readonly ClaimedJob[], claimedAt: number) => void
  readonly #claim: <T>(ask: (leaseId: string) => Promise<T>) => Promise<T>
  readonly #open = new Set<Promise<void>>()

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
  reserve(lane: Lane, jobs: number) {
    if (!lane.reserve(jobs)) return undefined
    const reservedAt = monotonicMs()
    let resolve = () => {}
    const left = new Promise<void>((done) => {
      resolve = done
    })
    this.#open.add(left)
    const leave = () => {
      lane.unreserve(jobs)
      this.#open.delete(left)
      resolve()
    }
    const take = (claimed: readonly ClaimedJob[]) => {
      leave()
      this.#take(claimed, reservedAt)
    }
    return { worker: this.#worker, queue: lane.queue, claim: this.#claim, take, leave }
  }

  /** Resolves when whoever was given room has taken or left it. */
  async empty(): Promise<void> {
    await Promise.all(this.#open)
  }
}
