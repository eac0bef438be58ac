// Says once a minute what fails again and again: while PostgreSQL is away, several operations of a worker fail each second.

import { describeFailure } from '../domain/run/failure.js'
import type { Events } from './events.js'

export type Fault = Events['worker.fault']

/** `text` is a whole line. */
export type SayFault = (fault: Fault, text: string) => void

const WINDOW_MS = 60_000

export class RepeatedFaults {
  readonly #say: SayFault
  /** By cause, for a minute after a line. */
  readonly #recent = new Map<string, { latest?: Fault; more: number }>()

  constructor(say: SayFault) {
    this.#say = say
  }

  readonly add = (fault: Fault): void => {
    const cause = causeOf(fault.error)
    const recent = this.#recent.get(cause)
    if (recent) {
      recent.latest = fault
      recent.more += 1
    } else {
      this.#say(fault, `${fault.doing} failed`)
      this.#count(cause)
    }
  }

  #count(cause: string): void {
    this.#recent.set(cause, { more: 0 })
    setTimeout(() => {
      const { latest, more = 0 } = this.#recent.get(cause) ?? {}
      this.#recent.delete(cause)
      if (latest === undefined) return
      this.#say(latest, `${latest.doing} failed; this cause ${more} more times in the last minute`)
      this.#count(cause)
    }, WINDOW_MS).unref()
  }
}

/** All operations that cannot reach the database fail of one cause, whatever the driver says. */
function causeOf(error: unknown): string {
  const { name, code, message } = describeFailure(error)
  return code === 'CONNECTION_FAILED' ? code : `${name} ${code} ${message}`
}
