// Durable steps, whose output is kept from one attempt to the next, and what a handler can wait for.

import { HoldfastError, isHoldfastError } from '../error/errors.js'
import { encodeInput } from '../value/json.js'

/** What a suspended job waits for. `delayMs` of an event is its timeout. */
export type Wait =
  | { readonly kind: 'sleep'; readonly name: string; readonly delayMs: number }
  | { readonly kind: 'event'; readonly name: string; readonly event: string; readonly delayMs: number }

export const STEP_KINDS = ['step', 'sleep', 'event'] as const satisfies readonly ('step' | Wait['kind'])[]
export type StepKind = (typeof STEP_KINDS)[number]

/** A step, sleep or wait as stored. */
export interface StoredStep {
  readonly kind: StepKind
  readonly name: string
  /** What a step returned, or the payload of an event; null where there is none (yet). */
  readonly output: unknown
  /** The step has its output, the sleep has passed, the event came or timed out. */
  readonly isOver: boolean
  /** The event timed out. */
  readonly isGivenUp: boolean
  readonly event: string | null
  /** When the sleep ends, or the wait times out. */
  readonly wakeAt: Date | null
  readonly at: Date
}

/** The result of a wait for an event. */
export interface FoundEvent {
  readonly payload: unknown
  /** True when there is no payload. */
  readonly isTimeout: boolean
}

/** The step's output as JSON text. Throws INVALID_OUTPUT with the step's name for what JSON cannot hold. */
export function encodeStepOutput(name: string, output: unknown): string {
  try {
    return encodeInput(output, 'output')
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    const { code, message, details } = error
    throw new HoldfastError(code, `step "${name}": ${message}`, { cause: error, details: { ...details, step: name } })
  }
}
