// How much of its slots a worker may use in a process that has other work: less while the event loop or the heap is full,
// so that the service's own requests come first.

import { getHeapStatistics } from 'node:v8'
import type { LoopDelay } from './loop-delay.js'

export interface BackpressureLimits {
  /** Event-loop delay, 90th percentile of the last second, above which the worker takes less. */
  readonly delayMs: number
  /** Share of the heap limit above which it takes less. */
  readonly heapShare: number
}

export interface Load {
  readonly delayMs: number
  readonly heapShare: number
}

export const DEFAULT_LIMITS: BackpressureLimits = { delayMs: 100, heapShare: 0.85 }
const LEAST_SHARE = 0.05

/** Halves the share while the load is above a limit, and gives a fifth of the whole back when it is below. */
export function nextShare(share: number, load: Load, limits: BackpressureLimits): number {
  const isOver = load.delayMs > limits.delayMs || load.heapShare > limits.heapShare
  return isOver ? Math.max(LEAST_SHARE, share / 2) : Math.min(1, share + 0.2)
}

export class Backpressure {
  readonly #limits: BackpressureLimits
  #share = 1

  constructor(limits: BackpressureLimits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  /** 1 when there is room for all slots. */
  get share(): number {
    return this.#share
  }

  /** Looks at the last second; true when there is more room than before. */
  look(delay: LoopDelay): boolean {
    const before = this.#share
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    const load = { delayMs: delay.percentile(90, 1), heapShare: used_heap_size / heap_size_limit }
    this.#share = nextShare(before, load, this.#limits)
    return this.#share > before
  }
}
