// The clock of a test: it moves only on request, and stops at every tick of a schedule on the way.

import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import { type Duration, durationMs } from '../domain/value/duration.js'

export interface ClockCalls {
  set(moment: Date): Promise<void>
  /** Fires what is due; the moment of the next tick. */
  serveSchedules(): Promise<Date | undefined>
  /** Runs what is due; the moment at which more will be. */
  drain(): Promise<Date | undefined>
}

// More ticks than a test means to wait for.
const MOST_STOPS = 10_000

export class TestClock {
  readonly #operations: ClockCalls
  #now: Date

  constructor(now: Date, operations: ClockCalls) {
    this.#now = now
    this.#operations = operations
  }

  get now(): Date {
    return new Date(this.#now)
  }

  /** Moves on by `duration`. Schedules fire at each of their ticks; with `drain`, jobs run as they become due. */
  advance(duration: Duration, options: { readonly drain?: boolean } = {}): Promise<void> {
    return this.#moveTo(this.#now.getTime() + durationMs(duration, 'duration'), options.drain ?? false)
  }

  /** Moves on to `moment`, like advance. */
  async to(moment: Date | string, options: { readonly drain?: boolean } = {}): Promise<void> {
    const target = new Date(moment).getTime()
    if (Number.isNaN(target)) throw invalidOption('moment', 'a Date or an ISO text', moment)
    if (target < this.#now.getTime()) throw invalidOption('moment', `after ${this.#now.toISOString()}`, moment)
    await this.#moveTo(target, options.drain ?? false)
  }

  async #moveTo(target: number, drains: boolean): Promise<void> {
    for (let stops = 0; stops < MOST_STOPS; stops += 1) {
      const tick = await this.#operations.serveSchedules()
      const due = drains ? await this.#operations.drain() : undefined
      if (this.#now.getTime() === target) return
      this.#now = new Date(Math.min(target, tick?.getTime() ?? target, due?.getTime() ?? target))
      await this.#operations.set(this.#now)
    }
    throw new HoldfastError(
      'INVALID_OPTION',
      `more than ${MOST_STOPS} ticks and jobs are on the way: go on in shorter spans`,
    )
  }
}
