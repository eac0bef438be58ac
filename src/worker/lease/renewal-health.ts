// Whether the leases of a worker can be renewed. A worker that cannot renew them claims no jobs.

export class RenewalHealth {
  #isHealthy = true
  #restored: Promise<void> = Promise.resolve()
  #resolve: (() => void) | undefined

  get isHealthy(): boolean {
    return this.#isHealthy
  }

  set(isHealthy: boolean): void {
    // A promise that callers already wait for must stay the same one.
    if (this.#isHealthy === isHealthy) return
    this.#isHealthy = isHealthy
    if (isHealthy) this.#resolve?.()
    else {
      this.#restored = new Promise((resolve) => {
        this.#resolve = resolve
      })
    }
  }

  /** Resolves at once, or when leases can be renewed again. */
  whenHealthy(): Promise<void> {
    return this.#restored
  }

  /** Resolves what whenHealthy() returned: the worker is stopping. */
  stopWaiting(): void {
    this.#resolve?.()
  }
}
