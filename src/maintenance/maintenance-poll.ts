// Polls every few seconds for maintenance that is due, all kinds in one statement. Every worker polls, none leads.

import { type DueMaintenance, dueMaintenance, type MaintenanceScope } from '../store/jobs/maintenance.js'
import type { Store } from '../store/store.js'

export interface MaintenancePollOptions {
  readonly scope: MaintenanceScope
  onDue(due: DueMaintenance): void
  onFault(doing: string, error: unknown): void
}

// A change by an operator and an expired lease are noticed within this time. The jobs of a dead worker do not wait for it:
// heartbeats report its silence.
const EVERY_MS = 2500

export class MaintenancePoll {
  readonly #store: Store
  readonly #options: MaintenancePollOptions
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined
  #isStopping = false

  constructor(store: Store, options: MaintenancePollOptions) {
    this.#store = store
    this.#options = options
  }

  start(): void {
    this.#pollIn(0)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#polling
  }

  async runOnce(): Promise<void> {
    const { scope, onDue, onFault } = this.#options
    try {
      const due = await dueMaintenance(this.#store, scope)
      if (!this.#isStopping) onDue(due)
    } catch (error) {
      onFault('polling for maintenance', error)
    }
  }

  #pollIn(ms: number): void {
    if (this.#isStopping) return
    this.#timer = setTimeout(() => {
      // Workers that started together do not poll together.
      this.#polling = this.runOnce().finally(() => this.#pollIn(EVERY_MS * (1 + 0.2 * Math.random())))
    }, ms)
  }
}
