// Spans of time as users write them: '5m', '250ms', or a number of milliseconds.

import { invalidOption } from '../error/invalid-option.js'
import { LIMITS } from './sizes.js'

export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

/** Whole milliseconds. Throws INVALID_OPTION, naming `what`, for anything but a span between nothing and ten years. */
export function durationMs(duration: Duration, what: string): number {
  const ms = typeof duration === 'number' ? duration : parsed(duration)
  if (ms === undefined || !Number.isFinite(ms)) throw invalidOption(what, EXPECTED, duration)
  if (ms < 0) throw invalidOption(what, 'a duration that is not negative', duration)
  if (ms > LIMITS.durationMs) throw invalidOption(what, 'a duration of at most 10 years (3650d)', duration)
  return Math.round(ms)
}

const EXPECTED = "a number of milliseconds or a text like '250ms', '30s', '5m', '2h' or '7d'"

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

const WRITTEN = /^(-?\d+(?:\.\d+)?)([a-z]+)$/

function parsed(text: unknown): number | undefined {
  const [, amount, unit] = (typeof text === 'string' && WRITTEN.exec(text)) || []
  const unitMs = UNIT_MS.get(unit ?? '')
  return unitMs === undefined ? undefined : Number(amount) * unitMs
}
