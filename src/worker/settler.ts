// Writes outcomes down in batches of what is finished, without waiting to fill one. A write that fails is repeated; the
// handler is never blamed for it.

import { backoffMs } from '../domain/backoff.js'
import { isHoldfastError } from '../domain/errors.js'
import type { ClaimedJob } from '../domain/job.js'
import type { Outcome, OutcomeOf } from '../domain/outcome.js'
import type { Store } from '../store/open.js'
import { cancelJobs, completeJobs, failJobs, releaseJobs, type Settlement, snoozeJobs } from '../store/settle.js'

interface Waiting extends Settlement<Outcome> {
  /** true: written; false: refused, the lease was lost; undefined: given up, the reaper repairs it. */
  done(verdict: boolean | undefined): void
}

// Large enough that a round trip is spread thin, small enough to keep each transaction short.
const LARGEST_BATCH = 500
const RETRY = { baseMs: 50, maxMs: 2000 }

export class Settler {
  readonly #store: Store
  readonly #onFault: (doing: string, error: unknown) => void
  #waiting: Waiting[] = []
  #flushing: Promise<void> | undefined
  #isGivingUp = false

  constructor(store: Store, onFault: (doing: string, error: unknown) => void) {
    this.#store = store
    this.#onFault = onFault
  }

  settle(job: ClaimedJob, outcome: Outcome): Promise<boolean | undefined> {
    if (outcome.kind === 'lost') return Promise.resolve(false)
    return new Promise((done) => {
      this.#waiting.push({ job, outcome, done })
      this.#flushing ??= this.#flush().finally(() => {
        this.#flushing = undefined
      })
    })
  }

  /** Waits until everything is written. With `giveUp`, writes that fail are not repeated any more. */
  async drain({ giveUp = false } = {}): Promise<void> {
    this.#isGivingUp = giveUp
    while (this.#flushing) await this.#flushing
  }

  async #flush(): Promise<void> {
    // Outcomes of this very moment go together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, LARGEST_BATCH)
      const kinds = new Map<Outcome['kind'], Waiting[]>()
      for (const member of batch) kinds.set(member.outcome.kind, [...(kinds.get(member.outcome.kind) ?? []), member])
      for (const [kind, members] of kinds) await this.#write(kind, members)
    }
  }

  async #write(kind: Outcome['kind'], members: Waiting[]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const verdicts = await writeBatch(this.#store, kind, members)
        members.forEach((member, i) => {
          member.done(verdicts[i] ?? false)
        })
        return
      } catch (error) {
        this.#onFault(`settling ${members.length} ${kind}`, error)
        if (this.#isGivingUp) return members.forEach((member) => void member.done(undefined))
        if (!isHoldfastError(error, 'CONNECTION_FAILED')) return await this.#writeApart(kind, members)
        await new Promise((resolve) => setTimeout(resolve, backoffMs(RETRY, tries, Math.random())))
      }
    }
  }

  /** One member that cannot be written must not keep its neighbours from it. */
  async #writeApart(kind: Outcome['kind'], members: Waiting[]): Promise<void> {
    const [only] = members
    if (members.length === 1) return only?.done(undefined)
    for (const member of members) await this.#write(kind, [member])
  }
}

function writeBatch(store: Store, kind: Outcome['kind'], batch: Settlement<Outcome>[]): Promise<boolean[]> {
  const of = <K extends Outcome['kind']>() => batch as Settlement<OutcomeOf<K>>[]
  switch (kind) {
    case 'completed':
      return completeJobs(store, of<'completed'>())
    case 'failed':
      return failJobs(store, of<'failed'>())
    case 'snoozed':
      return snoozeJobs(store, of<'snoozed'>())
    case 'cancelled':
      return cancelJobs(store, of<'cancelled'>())
    case 'released':
      return releaseJobs(store, of<'released'>())
    case 'lost':
      return Promise.resolve(batch.map(() => false))
    default:
      return kind satisfies never
  }
}
