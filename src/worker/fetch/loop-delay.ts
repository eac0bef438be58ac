// How late the event loop is. Each sample wakes the process up, so samples are taken only while the loop has much to do: for an
// idle worker they would cost more than all the rest.

import { performance } from 'node:perf_hooks'

export interface LoopClock {
  now(): number
  /** How long the loop has worked, its waiting left out. */
  workedMs(): number
}

const OWN_LOOP: LoopClock = {
  now: () => performance.now(),
  workedMs: () => performance.eventLoopUtilization().active,
}

const SAMPLE_MS = 20
const LOOK_MS = 1000
const KEPT_LOOKS = 10
// A loop that worked for less than this between two looks kept nobody waiting for longer.
const CALM_MS = SAMPLE_MS
const CALM_SAMPLES = new Array<number>(LOOK_MS / SAMPLE_MS).fill(0)
// Load that comes in waves is watched all the time.
const CALM_LOOKS = 3

export class LoopDelay {
  readonly #clock: LoopClock
  #kept: (readonly number[])[] = []
  #samples: number[] | undefined
  #calmLooks = 0
  #workedMs = 0
  #sampler: NodeJS.Timeout | undefined
  #looker: NodeJS.Timeout | undefined

  constructor(clock: LoopClock = OWN_LOOP) {
    this.#clock = clock
  }

  /** `onLook` is called every second. */
  start(onLook: (delay: LoopDelay) => void): void {
    this.#workedMs = this.#clock.workedMs()
    this.#watch()
    this.#looker = setInterval(() => {
      this.#look()
      onLook(this)
    }, LOOK_MS)
    this.#looker.unref()
  }

  stop(): void {
    clearInterval(this.#looker)
    this.#unwatch()
  }

  /** Milliseconds; of the last looks, at most ten. */
  percentile(percent: number, looks: number): number {
    const delays = this.#kept.slice(-looks).flat()
    delays.sort((a, b) => a - b)
    return delays[Math.ceil((delays.length * percent) / 100) - 1] ?? 0
  }

  #look(): void {
    const workedMs = this.#clock.workedMs()
    const isCalm = workedMs - this.#workedMs < CALM_MS
    this.#workedMs = workedMs
    this.#calmLooks = isCalm ? this.#calmLooks + 1 : 0
    this.#kept = [...this.#kept, this.#samples ?? (isCalm ? CALM_SAMPLES : [])].slice(-KEPT_LOOKS)
    if (this.#calmLooks >= CALM_LOOKS) this.#unwatch()
    else if (this.#samples) this.#samples = []
    else if (!isCalm) this.#watch()
  }

  #watch(): void {
    this.#samples = []
    this.#sample()
  }

  #unwatch(): void {
    clearTimeout(this.#sampler)
    this.#samples = undefined
  }

  #sample(): void {
    const dueAt = this.#clock.now() + SAMPLE_MS
    this.#sampler = setTimeout(() => {
      this.#samples?.push(Math.max(0, this.#clock.now() - dueAt))
      this.#sample()
    }, SAMPLE_MS)
    this.#sampler.unref()
  }
}
