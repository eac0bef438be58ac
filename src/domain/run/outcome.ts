// The outcome of one run of a job, which the runner passes to the settler. Beside it, what a handler may return
// instead of an output: `return snooze('10m')`, `return cancel('customer gone')`.

import { type Duration, durationMs } from '../value/duration.js'
import { readProperty } from '../value/read-property.js'
import { LIMITS } from '../value/sizes.js'
import { sanitizeText } from '../value/text.js'
import type { Wait } from './durable-step.js'
import type { Failure } from './failure.js'

export type Outcome =
  /** `output` is JSON text; `next` the JSON array of jobs to follow, enqueued with the completion. */
  | { readonly kind: 'completed'; readonly output: string; readonly next?: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retry: Retry }
  | { readonly kind: 'snoozed'; readonly delayMs: number }
  /** Until the first of these waits is over; the attempt does not count. */
  | { readonly kind: 'suspended'; readonly waits: readonly Wait[] }
  | { readonly kind: 'cancelled'; readonly reason: string | null }
  /** Given back unfinished; the attempt does not count. */
  | { readonly kind: 'released' }
  /** Another holds the job, or it is over: there is nothing to write. */
  | { readonly kind: 'lost' }

/** When a failed job runs again: by its type's backoff, after a delay the handler chose, or not at all. */
export type Retry =
  | { readonly kind: 'policy' }
  | { readonly kind: 'after'; readonly delayMs: number }
  | { readonly kind: 'never' }

export type OutcomeOf<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>

export function completed(output: string, next?: string): OutcomeOf<'completed'> {
  return next === undefined ? { kind: 'completed', output } : { kind: 'completed', output, next }
}

export function failed(failure: Failure, retry: Retry = { kind: 'policy' }): OutcomeOf<'failed'> {
  return { kind: 'failed', failure, retry }
}

export function snoozed(delayMs: number): OutcomeOf<'snoozed'> {
  return { kind: 'snoozed', delayMs }
}

export function suspended(waits: readonly Wait[]): OutcomeOf<'suspended'> {
  return { kind: 'suspended', waits }
}

export function cancelled(reason: string | null = null): OutcomeOf<'cancelled'> {
  return { kind: 'cancelled', reason }
}

export function released(): OutcomeOf<'released'> {
  return { kind: 'released' }
}

export function lost(): OutcomeOf<'lost'> {
  return { kind: 'lost' }
}

// Registered symbols, so that a second copy of the package makes values that this one knows.
const SNOOZE: unique symbol = Symbol.for('holdfast.snooze')
const CANCEL: unique symbol = Symbol.for('holdfast.cancel')

export interface Snooze {
  readonly [SNOOZE]: true
  readonly delayMs: number
}

export interface Cancel {
  readonly [CANCEL]: true
  readonly reason: string | null
}

/** Returned by a handler: run the job again after `delay`, without counting this attempt. */
export function snooze(delay: Duration): Snooze {
  return Object.freeze({ [SNOOZE]: true as const, delayMs: durationMs(delay, 'snooze delay') })
}

/** Returned by a handler: end the job as cancelled. A long reason is cut. */
export function cancel(reason?: string): Cancel {
  const text = reason === undefined ? null : sanitizeText(String(reason), LIMITS.reasonBytes)
  return Object.freeze({ [CANCEL]: true as const, reason: text })
}

/** Never throws, whatever a handler returned. */
export function isSnooze(value: unknown): value is Snooze {
  return readProperty(value, SNOOZE) === true
}

/** Never throws, whatever a handler returned. */
export function isCancel(value: unknown): value is Cancel {
  return readProperty(value, CANCEL) === true
}
