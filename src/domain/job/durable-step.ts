// What a handler remembers of itself from one attempt to the next, and what it can wait for.

import { HoldfastError, isHoldfastError } from '../error/errors.js'
import { encodeInput } from '../value/json.js'

/** Something that a handler has asked to be woken for. `delayMs` of an event is how long it may take. */
export type Wait =
  | { readonly kind: 'sleep'; readonly name: string; readonly delayMs: number }
  | { readonly kind: 'event'; readonly name: string; readonly event: string; readonly delayMs: number }

export type StepKind = 'step' | Wait['kind']

/** A step, sleep or wait as the database knows it. */
export interface StoredStep {
  readonly kind: StepKind
  readonly name: string
  /** What a step came to, or the payload of an event; null where there is none (yet). */
  readonly output: unknown
  /** The step has its output, the sleep has passed, the event came or was given up. */
  readonly isOver: boolean
  /** The time was over before the event came. */
  readonly isGivenUp: boolean
  readonly event: string | null
  /** When the sleep is over, or the wait gives up. */
  readonly wakeAt: Date | null
  readonly at: Date
}

/** What became of a wait for an event. */
export interface FoundEvent {
  readonly payload: unknown
  /** Its time was over first: there is no payload. */
  readonly isTimeout: boolean
}

/** JSON text of what a step came to; INVALID_OUTPUT that names the step where it cannot be kept. */
export function encodeStepOutput(name: string, output: unknown): string {
  try {
    return encodeInput(output, 'output')
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    const { code, message, details } = error
    throw new HoldfastError(code, `step "${name}": ${message}`, { cause: error, details: { ...details, step: name } })
  }
}
