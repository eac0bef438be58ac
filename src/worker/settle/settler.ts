// Writes outcomes down in batches of what is finished, without waiting to fill one. A write that fails is repeated; the
// handler is never blamed for it.

import { backoffMs } from '../../domain/job/backoff.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { Outcome, OutcomeOf } from '../../domain/job/outcome.js'
import { isPassing } from '../../store/connection/translate-error.js'
import {
  cancelJobs,
  completeJobs,
  failJobs,
  releaseJobs,
  type Settlement,
  snoozeJobs,
  suspendJobs,
} from '../../store/jobs/settle.js'
import type { Store } from '../../store/store.js'

/** A run that came to its outcome. */
export interface Ended {
  readonly job: ClaimedJob
  readonly outcome: Outcome
  readonly ms: number
  /** Called when the outcome is written down or refused. */
  readonly done?: () => void
}

export interface SettlerListener {
  /** true: written; false: refused, the lease was lost; undefined: given up, the reaper repairs it. */
  onSettled(ended: Ended, verdict: boolean | undefined): void
  onFault(doing: string, error: unknown): void
  /** Completes jobs that others come after; a verdict per member. */
  completeSteps(batch: readonly Settlement<OutcomeOf<'completed'>>[]): Promise<boolean[]>
}

// Large enough that a round trip is spread thin, small enough to keep each transaction short.
const LARGEST_BATCH = 2000
// Beyond this runs wait for the writing to come after them.
const MOST_WAITING = 4000
const RETRY = { baseMs: 50, maxMs: 2000 }

export class Settler {
  readonly #store: Store
  readonly #facts: SettlerListener
  #waiting: Ended[] = []
  #writing: readonly Ended[] = []
  #flushing: Promise<void> | undefined
  #caughtUp: Promise<void> | undefined
  #tellCaughtUp = () => {}
  #isGivingUp = false

  constructor(store: Store, facts: SettlerListener) {
    this.#store = store
    this.#facts = facts
  }

  push(ended: Ended): void {
    if (ended.outcome.kind === 'lost') {
      this.#settled(ended, false)
      return
    }
    this.#waiting.push(ended)
    this.#flushing ??= this.#flush()
  }

  /** Whether its outcome waits to be written or is just being written. */
  isAt(job: ClaimedJob): boolean {
    return [this.#waiting, this.#writing].some((batch) => batch.some((ended) => ended.job === job))
  }

  /** undefined, or a promise to wait for while too much is unwritten. */
  backlog(): Promise<void> | undefined {
    if (this.#waiting.length <= MOST_WAITING) return undefined
    this.#caughtUp ??= new Promise((resolve) => {
      this.#tellCaughtUp = resolve
    })
    return this.#caughtUp
  }

  /** Waits until everything is written. With `giveUp`, writes that fail are not repeated any more. */
  async drain({ giveUp = false } = {}): Promise<void> {
    this.#isGivingUp = giveUp
    while (this.#flushing) await this.#flushing
  }

  async #flush(): Promise<void> {
    // Outcomes of this very moment go together.
    await Promise.resolve()
    try {
      while (this.#waiting.length > 0) {
        const kinds = new Map<Writing, Ended[]>()
        this.#writing = this.#waiting.splice(0, LARGEST_BATCH)
        if (this.#waiting.length <= MOST_WAITING) this.#letGoOn()
        for (const ended of this.#writing) {
          const kind = writingOf(ended)
          const known = kinds.get(kind)
          if (known) known.push(ended)
          else kinds.set(kind, [ended])
        }
        for (const [kind, batch] of kinds) await this.#write(kind, batch)
      }
    } finally {
      this.#writing = []
      // In the same breath as the last look: what is pushed a moment later must find nobody at work.
      this.#flushing = undefined
    }
  }

  #letGoOn(): void {
    this.#tellCaughtUp()
    this.#caughtUp = undefined
  }

  async #write(kind: Writing, batch: Ended[]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const verdicts =
          kind === 'steps'
            ? await this.#facts.completeSteps(batch as Settlement<OutcomeOf<'completed'>>[])
            : await writeBatch(this.#store, kind, batch)
        for (let i = 0; i < batch.length; i += 1) this.#settled(batch[i] as Ended, verdicts[i] ?? false)
        return
      } catch (error) {
        this.#facts.onFault(`settling ${batch.length} ${kind}`, error)
        if (this.#isGivingUp || (batch.length === 1 && !isPassing(error))) {
          for (const ended of batch) this.#settled(ended, undefined)
          return
        }
        if (!isPassing(error)) return await this.#writeApart(kind, batch)
        await new Promise((resolve) => setTimeout(resolve, backoffMs(RETRY, tries, Math.random())))
      }
    }
  }

  /** One outcome that cannot be written must not keep its neighbours from it. */
  async #writeApart(kind: Writing, batch: Ended[]): Promise<void> {
    for (const ended of batch) await this.#write(kind, [ended])
  }

  #settled(ended: Ended, verdict: boolean | undefined): void {
    this.#facts.onSettled(ended, verdict)
    ended.done?.()
  }
}

/** Completed jobs that others come after are written together, apart from those that nobody waits for. */
type Writing = Outcome['kind'] | 'steps'

function writingOf({ job, outcome }: Ended): Writing {
  const isStep = outcome.kind === 'completed' && (job.pipelineId !== null || outcome.next !== undefined)
  return isStep ? 'steps' : outcome.kind
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
    case 'suspended':
      return suspendJobs(store, of<'suspended'>())
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
