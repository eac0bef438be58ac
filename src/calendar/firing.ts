// Decides which due ticks are fired, which are recorded as missed, and when the next one is.

import type { Firing, Timing } from '../domain/schedule/schedule.js'
import { latestTick, nextTick, ticksBetween } from './ticks.js'

export interface FiringPlan {
  readonly fire: readonly Date[]
  readonly missed: readonly Date[]
  /** undefined: the schedule is over. */
  readonly next: Date | undefined
}

/** The most ticks of one claim. Further ticks of `all` are due again at once; further missed ticks are not recorded. */
export const TICKS_PER_CLAIM = 1000

/** `due` is the stored next tick, which is not later than `now`. */
export function planFiring(
  timing: Timing,
  firing: Pick<Firing, 'missed' | 'windowMs'>,
  due: Date,
  now: Date,
): FiringPlan {
  const latest = latestTick(timing, due, now) ?? due
  const from = firedFrom(firing, latest, now, graceMs(timing, latest))
  const fire = ticksFrom(timing, due, new Date(Math.max(due.getTime(), from)), now)
  const missed = from <= due.getTime() ? [] : ticksFrom(timing, due, due, new Date(from - 1))
  const last = fire.length === TICKS_PER_CLAIM ? (fire.at(-1) ?? latest) : latest
  return { fire, missed, next: nextTick(timing, last) }
}

/** Ticks from this moment on are fired, the earlier ones were missed. */
function firedFrom(firing: Pick<Firing, 'missed' | 'windowMs'>, latest: Date, now: Date, grace: number): number {
  const onTime = now.getTime() - grace
  const window = now.getTime() - firing.windowMs
  switch (firing.missed) {
    case 'skip':
      return onTime
    case 'last':
      if (latest.getTime() >= onTime) return onTime
      return latest.getTime() >= window ? latest.getTime() : now.getTime() + 1
    case 'all':
      return Math.min(onTime, window)
  }
}

const LONGEST_GRACE_MS = 30_000
const SHORTEST_GRACE_MS = 1000

/** How late a tick still counts as on time: half its interval, from one second to thirty. */
function graceMs(timing: Timing, tick: Date): number {
  const next = nextTick(timing, tick)
  const half = next ? (next.getTime() - tick.getTime()) / 2 : LONGEST_GRACE_MS
  return Math.max(SHORTEST_GRACE_MS, Math.min(LONGEST_GRACE_MS, half))
}

/** Like ticksBetween, with `from` included. The stored tick counts even if the timing no longer has it. */
function ticksFrom(timing: Timing, due: Date, from: Date, to: Date): Date[] {
  if (from > to) return []
  if (from > due) return ticksBetween(timing, new Date(from.getTime() - 1), to, TICKS_PER_CLAIM)
  return [due, ...ticksBetween(timing, due, to, TICKS_PER_CLAIM - 1)]
}
