// When a schedule ticks: pure arithmetic on its timing. Nothing here reads a clock.

import { invalidOption } from '../domain/error/invalid-option.js'
import type { GapPolicy, Timing, TwicePolicy } from '../domain/schedule/schedule.js'
import { type CronPattern, cronPattern } from './cron.js'
import { type Zone, zoneOf } from './zone.js'

/** The first tick after this moment; undefined when there is none any more. */
export function nextTick(timing: Timing, after: Date): Date | undefined {
  const startsAt = timing.startsAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const from = Math.max(after.getTime(), startsAt - 1)
  const next = timing.everyMs === null ? nextOfCron(timing, from) : nextOfInterval(timing.everyMs, startsAt, from)
  if (next === undefined || next >= (timing.endsAt?.getTime() ?? LAST_MOMENT)) return undefined
  return new Date(next)
}

/** The ticks after `after`, up to and including `to`, at most `limit`, in order. */
export function ticksBetween(timing: Timing, after: Date, to: Date, limit: number): Date[] {
  const ticks: Date[] = []
  for (let tick = nextTick(timing, after); tick && tick <= to && ticks.length < limit; tick = nextTick(timing, tick)) {
    ticks.push(tick)
  }
  return ticks
}

/** The latest tick after `after`, up to and including `to`; the cost does not grow with how many there are. */
export function latestTick(timing: Timing, after: Date, to: Date): Date | undefined {
  for (let span = FIRST_LOOK_MS; ; span *= 4) {
    const from = Math.max(after.getTime(), to.getTime() - span)
    let found: Date | undefined
    for (let tick = nextTick(timing, new Date(from)); tick && tick <= to; tick = nextTick(timing, tick)) found = tick
    if (found || from === after.getTime()) return found
  }
}

/** Throws INVALID_OPTION when cron or time zone cannot be read, or when no tick lies between start and end. */
export function checkTicks(timing: Timing): void {
  zoneOf(timing.timezone)
  if (timing.cron !== null) cronPattern(timing.cron)
  const { startsAt, endsAt } = timing
  if (startsAt && endsAt && nextTick(timing, new Date(startsAt.getTime() - 1)) === undefined) {
    throw invalidOption('endsAt', 'later than the first tick after startsAt', endsAt)
  }
}

const FIRST_LOOK_MS = 60_000
const SECOND = 1000
// The range that both Date and timestamptz can store.
const LAST_MOMENT = Date.UTC(9999, 0)

function nextOfInterval(everyMs: number, startsAt: number, from: number): number {
  const base = Number.isFinite(startsAt) ? startsAt : 0
  return base + (Math.floor((from - base) / everyMs) + 1) * everyMs
}

/**
 * Goes from one change of the zone's offset to the next: in between, instants and local times run side by side, and each
 * change leaps over local times (gap) or repeats them (twice).
 */
function nextOfCron({ cron, timezone, gap, twice }: Timing, after: number): number | undefined {
  const pattern = cronPattern(cron ?? '')
  const zone = zoneOf(timezone)
  // A pattern that counts hours ticks every hour of real time; one that names a time of day ticks once a day.
  const gapPolicy: GapPolicy = gap ?? (pattern.isEveryHour ? 'skip' : 'after')
  const twicePolicy: TwicePolicy = twice ?? (pattern.isEveryHour ? 'both' : 'first')

  let start = (Math.floor(after / SECOND) + 1) * SECOND
  for (;;) {
    const offset = zone.offsetAt(start)
    if (gapPolicy === 'after' && hasLeaptOver(pattern, zone.offsetAt(start - SECOND), offset, start)) return start
    const local = pattern.atOrAfter(start + offset)
    if (local === undefined || local > LAST_MOMENT) return undefined
    const tick = local - offset
    const change = zone.nextChange(start, tick)
    if (change !== undefined) start = change
    else if (isWantedPass(zone, tick, local, twicePolicy)) return tick
    else start = tick + SECOND
  }
}

/** Whether a wanted local time lies in the gap that ends at this instant. */
function hasLeaptOver(pattern: CronPattern, before: number, offset: number, instant: number): boolean {
  if (offset <= before) return false
  const missing = pattern.atOrAfter(instant + before)
  return missing !== undefined && missing < instant + offset
}

// No zone's clock has been set back by more than a day.
const LONGEST_REPEAT = 86_400_000

/** Whether this is the occurrence to tick at, of a local time that comes twice. */
function isWantedPass(zone: Zone, tick: number, local: number, policy: TwicePolicy): boolean {
  if (policy === 'both') return true
  const elsewhere = policy === 'first' ? zone.offsetAt(tick - LONGEST_REPEAT) : zone.offsetAt(tick + LONGEST_REPEAT)
  const other = local - elsewhere
  const isOtherPass = policy === 'first' ? other < tick : other > tick
  return !(isOtherPass && zone.offsetAt(other) === elsewhere)
}
