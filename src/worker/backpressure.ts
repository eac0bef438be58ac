// How much of its slots a worker may use in a process that has other work: less while the event loop or the heap is full,
// so that the service's own requests come first.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

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
const LOOK_MS = 1000
const LEAST_SHARE = 0.05

/** Halves the share while the load is above a limit, and gives a fifth of the whole back when it is below. */
export function nextShare(share: number, load: Load, limits: BackpressureLimits): number {
  const isOver = load.delayMs > limits.delayMs || load.heapShare > limits.heapShare
  return isOver ? Math.max(LEAST_SHARE, share / 2) : Math.min(1, share + 0.2)
}

export class Backpressure {
  readonly #limits: BackpressureLimits
  readonly #delay = monitorEventLoopDelay({ resolution: 10 })
  #timer: NodeJS.Timeout | undefined
  #share = 1

  constructor(limits: BackpressureLimits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  /** 1 when there is room for all slots. */
  get share(): number {
    return this.#share
  }

  start(onChange: () => void): void {
    this.#delay.enable()
    this.#timer = setInterval(() => {
      const before = this.#share
      this.#share = nextShare(before, this.#readLoad(), this.#limits)
      if (this.#share > before) onChange()
    }, LOOK_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#delay.disable()
  }

  #readLoad(): Load {
    const delayMs = this.#delay.percentile(90) / 1e6
    this.#delay.reset()
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    return { delayMs, heapShare: used_heap_size / heap_size_limit }
  }
}
