// Measures how late the event loop runs its timers. Each sample wakes the process, so samples are taken only while the loop is
// busy: in an idle worker they would cost more than everything else.

import { performance } from 'node:perf_hooks'

export interface LoopClock {
  now(): number
  /** How long the loop has worked, without its waiting. */
  workedMs(): number
}

const OWN_LOOP: LoopClock = {
  now: () => performance.now(),
  workedMs: () => performance.eventLoopUtilization().active,
}

const SAMPLE_MS = 20
const MEASURE_MS = 1000
const KEPT_MEASUREMENTS = 10
// A loop that worked for less than this between two measurements delayed no timer for longer.
const CALM_MS = SAMPLE_MS
const CALM_SAMPLES = new Array<number>(MEASURE_MS / SAMPLE_MS).fill(0)
// Load that comes in waves is sampled all the time.
const CALM_MEASUREMENTS = 3

export class LoopDelay {
  readonly #clock: LoopClock
  #kept: (readonly number[])[] = []
  #samples: number[] | undefined
  #calmMeasurements = 0
  #workedMs = 0
  #sampler: NodeJS.Timeout | undefined
  #measurer: NodeJS.Timeout | undefined

  constructor(clock: LoopClock = OWN_LOOP) {
    this.#clock = clock
  }

  /** `onMeasured` is called every second. */
  start(onMeasured: (delay: LoopDelay) => void): void {
    this.#workedMs = this.#clock.workedMs()
    this.#startSampling()
    this.#measurer = setInterval(() => {
      this.#measure()
      onMeasured(this)
    }, MEASURE_MS)
    this.#measurer.unref()
  }

  stop(): void {
    clearInterval(this.#measurer)
    this.#stopSampling()
  }

  /** Milliseconds, of the last measurements, at most ten. */
  percentile(percent: number, measurements: number): number {
    const delays = this.#kept.slice(-measurements).flat()
    delays.sort((a, b) => a - b)
    return delays[Math.ceil((delays.length * percent) / 100) - 1] ?? 0
  }

  #measure(): void {
    const workedMs = this.#clock.workedMs()
    const isCalm = workedMs - this.#workedMs < CALM_MS
    this.#workedMs = workedMs
    this.#calmMeasurements = isCalm ? this.#calmMeasurements + 1 : 0
    this.#kept = [...this.#kept, this.#samples ?? (isCalm ? CALM_SAMPLES : [])].slice(-KEPT_MEASUREMENTS)
    if (this.#calmMeasurements >= CALM_MEASUREMENTS) this.#stopSampling()
    else if (this.#samples) this.#samples = []
    else if (!isCalm) this.#startSampling()
  }

  #startSampling(): void {
    this.#samples = []
    this.#sample()
  }

  #stopSampling(): void {
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
