// Time zones: how far local time is ahead of UTC at an instant, and when that changes.
// Instants and local times are milliseconds; a local time is written as if it were UTC.

import { invalidOption } from '../domain/error/invalid-option.js'

export interface Zone {
  /** What to add to this instant to get its local time. */
  offsetAt(instant: number): number
  /** The first instant after `from`, up to `to`, from which another offset is in force. */
  nextChange(from: number, to: number): number | undefined
}

/** Throws INVALID_OPTION for a zone that this Node.js does not know. */
export function zoneOf(timezone: string): Zone {
  let zone = ZONES.get(timezone)
  if (!zone) {
    zone = makeZone(timezone)
    ZONES.set(timezone, zone)
  }
  return zone
}

const ZONES = new Map<string, Zone>()
const SECOND = 1000
// In the years of a schedule, two changes of a zone are at least two weeks apart.
const STEP = 7 * 86_400_000

function makeZone(timezone: string): Zone {
  const format = formatOf(timezone)
  const offsetAt = (instant: number) => {
    const whole = Math.floor(instant / SECOND) * SECOND
    return localTime(format.format(whole)) - whole
  }
  return {
    offsetAt,
    nextChange(from, to) {
      const before = offsetAt(from)
      for (let low = from; low < to; low += STEP) {
        const high = Math.min(low + STEP, to)
        if (offsetAt(high) !== before) return firstDifferent(offsetAt, before, low, high)
      }
      return undefined
    },
  }
}

/** `low` has the old offset and `high` another. */
function firstDifferent(offsetAt: Zone['offsetAt'], before: number, low: number, high: number): number {
  let last = Math.floor(low / SECOND)
  let first = Math.ceil(high / SECOND)
  while (first - last > 1) {
    const middle = Math.floor((first + last) / 2)
    if (offsetAt(middle * SECOND) === before) last = middle
    else first = middle
  }
  return first * SECOND
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  try {
    if (typeof timezone !== 'string' || !/^[A-Za-z]/.test(timezone)) throw new RangeError('not a name')
    return new Intl.DateTimeFormat('en-US', { timeZone: timezone, hourCycle: 'h23', ...fields, second: 'numeric' })
  } catch {
    throw invalidOption('timezone', 'an IANA name such as Europe/Berlin', timezone)
  }
}

const PRINTED = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/

function localTime(printed: string): number {
  const [, month, day, year, hour, minute, second] = PRINTED.exec(printed) ?? []
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
}
