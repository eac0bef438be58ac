// Writes a batch of outcomes in the cheapest form that fits it. Successors that this worker can start at once are claimed in
// the same call.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { Outcome } from '../../domain/run/outcome.js'
import {
  completePlainJobs,
  completeStep,
  isPlain,
  isStep,
  type Receiver,
  type Settlement,
  settleJobs,
} from '../../store/jobs/settle.js'
import type { Store } from '../../store/store.js'
import { monotonicMs } from '../monotonic.js'

export interface HandoffReceiver {
  /** By queue, how many jobs could start at once. */
  room(): ReadonlyMap<string, number>
  take(jobs: readonly ClaimedJob[], claimedAt: number): void
}

type Batch = readonly Settlement<Outcome>[]

export class OutcomeWriter {
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

  /** Per member: false where the lease was lost. All of them are plain completions, or none is. */
  async write(batch: Batch): Promise<boolean[]> {
    const [first] = batch
    if (batch.length === 1 && first && isStep(first)) return [await completeStep(this.#store, first, this.#claiming())]
    if (!batch.every(isPlain)) return settleJobs(this.#store, batch, this.#claiming())
    const verdicts = await completePlainJobs(this.#store, batch)
    const refused = batch.filter((_, i) => !verdicts[i])
    if (refused.length === 0) return verdicts
    const others = (await settleJobs(this.#store, refused, this.#claiming())).values()
    return verdicts.map((isSettled) => isSettled || others.next().value === true)
  }

  #claiming(): Receiver {
    const claimedAt = monotonicMs()
    return {
      ...this.#claimer,
      slots: this.#receiver?.room() ?? new Map(),
      take: (jobs) => this.#receiver?.take(jobs, claimedAt),
    }
  }
}
