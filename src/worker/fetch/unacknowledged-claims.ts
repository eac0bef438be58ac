// Gives back what claims may have taken whose answer never came. Nothing of it runs here, and nobody else may run it while it
// is held: docs/decisions/0025.

import { randomUUID } from 'node:crypto'
import { isPassing, mayBeDone } from '../../store/connection/translate-error.js'

export interface UnacknowledgedClaimCalls {
  /** Gives back what is held under these lease ids; tells under which of them there was something. */
  release(leaseIds: readonly string[]): Promise<readonly string[]>
  /** Jobs were given back: they can be claimed. */
  onReleased(): void
  onFault(doing: string, error: unknown): void
}

const AFTER_FAULT_MS = 500
// A claim that is cut off may still be under way and commit after a look, as a rule within milliseconds.
const NEXT_LOOK_MS = { first: 50, most: 5000 }
// The kernel goes on sending what was written to a closed connection for about 100 s: no claim arrives later than that.
const WATCH_MS = 120_000

export class UnacknowledgedClaims {
  readonly #operations: UnacknowledgedClaimCalls
  /** By lease id, until when it is looked for; undefined while no look has been answered. */
  readonly #until = new Map<string, number | undefined>()
  #nextLookMs = NEXT_LOOK_MS.first
  #looking: Promise<void> | undefined
  #lookNow = () => {}
  #isStopping = false

  constructor(operations: UnacknowledgedClaimCalls) {
    this.#operations = operations
  }

  /** Lets `ask` claim under a lease id of its own; if it fails and may have claimed, the jobs are given back. */
  async claim<T>(ask: (leaseId: string) => Promise<T>): Promise<T> {
    const leaseId = randomUUID()
    try {
      return await ask(leaseId)
    } catch (error) {
      if (mayBeDone(error)) this.#doubt(leaseId)
      throw error
    }
  }

  /** Looks once more at what is in doubt, and again until the database answers, for at most `ms`. */
  async stop(ms: number): Promise<void> {
    const endsAt = performance.now() + ms
    this.#isStopping = true
    this.#lookNow()
    await this.#looking
    while (this.#until.size > 0 && !(await this.#look()) && performance.now() < endsAt) {
      await new Promise((resolve) => setTimeout(resolve, AFTER_FAULT_MS))
    }
  }

  #doubt(leaseId: string): void {
    this.#until.set(leaseId, undefined)
    this.#nextLookMs = NEXT_LOOK_MS.first
    this.#lookNow()
    if (!this.#isStopping) this.#looking ??= this.#keepLooking()
  }

  async #keepLooking(): Promise<void> {
    while (this.#until.size > 0 && !this.#isStopping) {
      const isAnswered = await this.#look()
      if (this.#until.size === 0 || this.#isStopping) break
      const restMs = isAnswered ? this.#nextLookMs : AFTER_FAULT_MS
      this.#nextLookMs = isAnswered ? Math.min(restMs * 2, NEXT_LOOK_MS.most) : NEXT_LOOK_MS.first
      await this.#rest(restMs)
    }
    this.#looking = undefined
  }

  /** true when the database has answered. */
  async #look(): Promise<boolean> {
    const asked = [...this.#until.keys()]
    try {
      const found = await this.#operations.release(asked)
      const now = performance.now()
      for (const leaseId of asked) {
        const until = this.#until.get(leaseId) ?? now + WATCH_MS
        // A claim commits once, with all its jobs: what was found needs no second look.
        if (now >= until || found.includes(leaseId)) this.#until.delete(leaseId)
        else this.#until.set(leaseId, until)
      }
      if (found.length > 0) this.#operations.onReleased()
      return true
    } catch (error) {
      this.#operations.onFault(`giving back ${asked.length} claims in doubt`, error)
      // Refused for good: the jobs come back when their leases are over.
      if (!isPassing(error)) for (const leaseId of asked) this.#until.delete(leaseId)
      return false
    }
  }

  /** Does not keep a process alive that has nothing else to do. */
  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.#lookNow = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
