// Releases the jobs of claims whose answer was lost: this worker does not run them, and their leases keep others from it.
// See docs/decisions/0006.

import { randomUUID } from 'node:crypto'
import { isPassing, mayBeDone } from '../../store/connection/translate-error.js'

export interface UnacknowledgedClaimCalls {
  /** Releases what is leased under these ids; returns the ids under which there was something. */
  release(leaseIds: readonly string[]): Promise<readonly string[]>
  /** Jobs were released: they can be claimed. */
  onReleased(): void
  onFault(doing: string, error: unknown): void
}

const AFTER_FAULT_MS = 500
// A claim that was cut off may still be executing and commit after a poll, as a rule within milliseconds.
const NEXT_POLL_MS = { first: 50, most: 5000 }
// The kernel resends what was written to a closed connection for about 100 s: no claim arrives later than that.
const WATCH_MS = 120_000

export class UnacknowledgedClaims {
  readonly #calls: UnacknowledgedClaimCalls
  /** By lease id, until when to poll for it; undefined while no poll has been answered. */
  readonly #until = new Map<string, number | undefined>()
  #nextPollMs = NEXT_POLL_MS.first
  #polling: Promise<void> | undefined
  #pollNow = () => {}
  #isStopping = false

  constructor(calls: UnacknowledgedClaimCalls) {
    this.#calls = calls
  }

  /** Lets `ask` claim under a lease id of its own; if it fails and may have claimed, the jobs are released. */
  async claim<T>(ask: (leaseId: string) => Promise<T>): Promise<T> {
    const leaseId = randomUUID()
    try {
      return await ask(leaseId)
    } catch (error) {
      if (mayBeDone(error)) this.#watch(leaseId)
      throw error
    }
  }

  /** Polls once more, and again until the database answers, for at most `ms`. */
  async stop(ms: number): Promise<void> {
    const endsAt = performance.now() + ms
    this.#isStopping = true
    this.#pollNow()
    await this.#polling
    while (this.#until.size > 0 && !(await this.#poll()) && performance.now() < endsAt) {
      await new Promise((resolve) => setTimeout(resolve, AFTER_FAULT_MS))
    }
  }

  #watch(leaseId: string): void {
    this.#until.set(leaseId, undefined)
    this.#nextPollMs = NEXT_POLL_MS.first
    this.#pollNow()
    if (!this.#isStopping) this.#polling ??= this.#keepPolling()
  }

  async #keepPolling(): Promise<void> {
    while (this.#until.size > 0 && !this.#isStopping) {
      const isAnswered = await this.#poll()
      if (this.#until.size === 0 || this.#isStopping) break
      const restMs = isAnswered ? this.#nextPollMs : AFTER_FAULT_MS
      this.#nextPollMs = isAnswered ? Math.min(restMs * 2, NEXT_POLL_MS.most) : NEXT_POLL_MS.first
      await this.#rest(restMs)
    }
    this.#polling = undefined
  }

  /** true when the database has answered. */
  async #poll(): Promise<boolean> {
    const asked = [...this.#until.keys()]
    try {
      const found = await this.#calls.release(asked)
      const now = performance.now()
      for (const leaseId of asked) {
        const until = this.#until.get(leaseId) ?? now + WATCH_MS
        // A claim commits once, with all its jobs: an id that was found needs no second poll.
        if (now >= until || found.includes(leaseId)) this.#until.delete(leaseId)
        else this.#until.set(leaseId, until)
      }
      if (found.length > 0) this.#calls.onReleased()
      return true
    } catch (error) {
      this.#calls.onFault(`releasing ${asked.length} unacknowledged claims`, error)
      // An error that retries cannot cure: the jobs come back when their leases expire.
      if (!isPassing(error)) for (const leaseId of asked) this.#until.delete(leaseId)
      return false
    }
  }

  /** Does not keep a process alive that has nothing else to do. */
  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.#pollNow = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
