// Asks every few seconds what upkeep is due, all kinds of it in one statement: where there is nothing to do, nothing more is
// asked. Every worker does it, none leads.

import { type DueMaintenance, dueMaintenance, type MaintenanceScope } from '../store/jobs/maintenance.js'
import type { Store } from '../store/store.js'

export interface MaintenancePollOptions {
  readonly scope: MaintenanceScope
  onDue(due: DueMaintenance): void
  onFault(doing: string, error: unknown): void
}

// What an operator changes is noticed within this, and so is a lease that is over. The jobs of a dead worker do not wait for
// it: the heartbeat tells of silence.
const EVERY_MS = 2500

export class MaintenancePoll {
  readonly #store: Store
  readonly #options: MaintenancePollOptions
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isStopping = false

  constructor(store: Store, options: MaintenancePollOptions) {
    this.#store = store
    this.#options = options
  }

  start(): void {
    this.#lookIn(0)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async runOnce(): Promise<void> {
    const { scope, onDue, onFault } = this.#options
    try {
      const due = await dueMaintenance(this.#store, scope)
      if (!this.#isStopping) onDue(due)
    } catch (error) {
      onFault('looking for upkeep', error)
    }
  }

  #lookIn(ms: number): void {
    if (this.#isStopping) return
    this.#timer = setTimeout(() => {
      // Workers that started together do not ask together.
      this.#looking = this.runOnce().finally(() => this.#lookIn(EVERY_MS * (1 + 0.2 * Math.random())))
    }, ms)
  }
}
