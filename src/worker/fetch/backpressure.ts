// How much of its slots a worker may use: less while the event loop or the heap is full, so that other work of the process
// comes first.

import { getHeapStatistics } from 'node:v8'
import type { BackpressureLimits } from '../options.js'
import type { LoopDelay } from './loop-delay.js'

export interface Load {
  readonly delayMs: number
  readonly heapShare: number
}

const LEAST_SHARE = 0.05

/** Halves the share while the load is above a limit; otherwise raises it by a fifth of the whole. */
export function nextShare(share: number, load: Load, limits: BackpressureLimits): number {
  const isOver = load.delayMs > limits.delayMs || load.heapShare > limits.heapShare
  return isOver ? Math.max(LEAST_SHARE, share / 2) : Math.min(1, share + 0.2)
}

export class Backpressure {
  readonly #limits: BackpressureLimits | undefined
  #share = 1

  /** Without limits the share is always 1. */
  constructor(limits: BackpressureLimits | undefined) {
    this.#limits = limits
  }

  /** 0 to 1; 1 when all slots may be used. */
  get share(): number {
    return this.#share
  }

  /** Takes the load of the last second into account; true when more slots may be used than before. */
  measured(delay: LoopDelay): boolean {
    if (!this.#limits) return false
    const before = this.#share
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    const load = { delayMs: delay.percentile(90, 1), heapShare: used_heap_size / heap_size_limit }
    this.#share = nextShare(before, load, this.#limits)
    return this.#share > before
  }
}
