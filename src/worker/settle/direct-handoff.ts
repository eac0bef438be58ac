// Completes jobs that have successors. Successors that this worker can start at once are claimed in the same call.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { OutcomeOf } from '../../domain/run/outcome.js'
import { completeSteps } from '../../store/jobs/complete-steps.js'
import type { Settlement } from '../../store/jobs/settle.js'
import type { Store } from '../../store/store.js'
import { monotonicMs } from '../monotonic.js'
import type { StepCompleter } from './settler.js'

export interface HandoffReceiver {
  /** By queue, how many jobs could start at once. */
  room(): ReadonlyMap<string, number>
  take(jobs: readonly ClaimedJob[], claimedAt: number): void
}

export class DirectHandoff implements StepCompleter {
  readonly #store: Store
  readonly #claimer: { readonly worker: string; readonly types: readonly string[] }
  readonly #receiver: HandoffReceiver | undefined

  /** Without a receiver no successor is claimed. */
  constructor(
    store: Store,
    claimer: { readonly worker: string; readonly types: readonly string[] },
    receiver: HandoffReceiver | undefined,
  ) {
    this.#store = store
    this.#claimer = claimer
    this.#receiver = receiver
  }

  completeSteps(batch: readonly Settlement<OutcomeOf<'completed'>>[]): Promise<boolean[]> {
    const claimedAt = monotonicMs()
    return completeSteps(this.#store, batch, {
      ...this.#claimer,
      room: this.#receiver?.room() ?? new Map(),
      take: (jobs) => this.#receiver?.take(jobs, claimedAt),
    })
  }
}
