// A token bucket per principal: it fills steadily, and an empty one says how long to wait.

export interface Rate {
  readonly perSecond: number
  /** How many may come at once after a quiet time. */
  readonly burst: number
}

interface Bucket {
  left: number
  at: number
}

// More names than a team has; beyond it the oldest are forgotten, which costs an attacker a new name for each burst.
const MOST_BUCKETS = 10_000

export class RateLimit {
  readonly #rate: Rate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** 0 and one request taken, or the seconds until there is one. `now` in milliseconds of a clock that never steps back. */
  take(name: string, now: number): number {
    const { perSecond, burst } = this.#rate
    const before = this.#buckets.get(name) ?? { left: burst, at: now }
    const left = Math.min(burst, before.left + ((now - before.at) / 1000) * perSecond)
    const isGranted = left >= 1
    this.#keep(name, { left: isGranted ? left - 1 : left, at: now })
    return isGranted ? 0 : (1 - left) / perSecond
  }

  #keep(name: string, bucket: Bucket): void {
    // Deleted first, so that the map's order is that of the last use.
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    if (this.#buckets.size <= MOST_BUCKETS) return
    const [oldest] = this.#buckets.keys()
    this.#buckets.delete(oldest as string)
  }
}
