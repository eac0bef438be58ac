// The policy for local times that are missing or come twice, computed from every minute of a zone. It shares no code
// with what is tested: no cron, no arithmetic on offsets.

export interface Policy {
  readonly gap: 'after' | 'skip'
  readonly twice: 'first' | 'second' | 'both'
}

const MINUTE = 60_000
export const DAY = 86_400_000

/** A minute as the zone's clock shows it. */
interface Minute {
  readonly instant: number
  readonly time: string
}

/** The minutes of a stretch of time by their local day; the first and the last day may be cut off. */
export type Days = ReadonlyMap<string, readonly Minute[]>

export function daysOf(zone: string, from: number, to: number): Days {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const days = new Map<string, Minute[]>()
  for (let instant = from; instant < to; instant += MINUTE) {
    const [day = '', time = ''] = format.format(instant).split(' ')
    const minutes = days.get(day) ?? []
    minutes.push({ instant, time })
    days.set(day, minutes)
  }
  return days
}

/** The moments, to the minute, at which the zone's clock is set, in these years. */
export function changesOf(zone: string, firstYear: number, lastYear: number): number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offset = (instant: number) => format.format(instant).split('GMT')[1]
  const changes: number[] = []
  let before = offset(Date.UTC(firstYear, 0))
  for (let hour = Date.UTC(firstYear, 0); hour < Date.UTC(lastYear + 1, 0); hour += 60 * MINUTE) {
    const after = offset(hour + 60 * MINUTE)
    if (after === before) continue
    let instant = hour
    while (offset(instant + MINUTE) === before) instant += MINUTE
    changes.push(instant + MINUTE)
    before = after
  }
  return changes
}

/** Per row: the instants of these days at which one local time ticks by the policy. */
export function ticksByTable(days: Days, time: string, { gap, twice }: Policy): number[] {
  return [...days.values()].flatMap((minutes) => {
    const shown = minutes.filter((minute) => minute.time === time).map(({ instant }) => instant)
    if (shown.length === 1) return shown
    if (shown.length > 1) return twice === 'both' ? shown : twice === 'first' ? shown.slice(0, 1) : shown.slice(-1)
    // The day never shows this time: the first minute that shows a later one ends the gap.
    const after = minutes.find((minute) => minute.time > time)
    return gap === 'after' && after !== undefined ? [after.instant] : []
  })
}

/** A pattern that counts hours ticks whenever the clock shows one of its times. */
export function ticksByClock(days: Days, fits: (time: string) => boolean): number[] {
  return [...days.values()].flat().flatMap(({ instant, time }) => (fits(time) ? [instant] : []))
}
