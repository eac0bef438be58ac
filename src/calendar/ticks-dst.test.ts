// Ticks around changes of the clock, against a table that is made by looking at every minute of the zones.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Timing } from '../domain/schedule/schedule.js'
import { changesOf, DAY, daysOf, type Policy, ticksByClock, ticksByTable } from './dst-table.test-support.js'
import { ticksBetween } from './ticks.js'

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'America/Santiago']
const POLICIES: Policy[] = [
  { gap: 'after', twice: 'first' },
  { gap: 'skip', twice: 'second' },
  { gap: 'after', twice: 'both' },
]
const TIMES = Array.from({ length: 48 }, (_, i) => `${String(i >> 1).padStart(2, '0')}:${i % 2 ? '30' : '00'}`)

const timing = (cron: string, timezone: string, policy: Partial<Policy> = {}): Timing => ({
  cron,
  everyMs: null,
  timezone,
  gap: policy.gap ?? null,
  twice: policy.twice ?? null,
  startsAt: null,
  endsAt: null,
})

const daily = (time: string) => `${Number(time.slice(3))} ${Number(time.slice(0, 2))} * * *`
const shownAt = (zone: string, instant: number) =>
  [...daysOf(zone, instant, instant + 60_000).values()].flat().map(({ time }) => time)[0] ?? ''
const ticksIn = (of: Timing, from: number, to: number) =>
  ticksBetween(of, new Date(from - 1), new Date(to - 1), 10_000).map((tick) => tick.getTime())

describe.each(ZONES)('%s', (zone) => {
  const changes = changesOf(zone, 2024, 2028)

  test('the clock is set ten times in five years', () => {
    expect(changes).toHaveLength(10)
  })

  // Looked at once: the table is the same for every policy, and dear to make.
  const stretches: { from: number; to: number; days: ReturnType<typeof daysOf> }[] = []
  beforeAll(() => {
    for (const change of changes) {
      const [from, to] = [change - (change % DAY) - 2 * DAY, change - (change % DAY) + 3 * DAY]
      stretches.push({ from, to, days: daysOf(zone, from - DAY, to + DAY) })
    }
  })

  test.each(POLICIES)('every half hour of the days around each change ticks by the table: %o', (policy) => {
    for (const { from, to, days } of stretches) {
      for (const time of TIMES) {
        const expected = ticksByTable(days, time, policy).filter((tick) => tick >= from && tick < to)
        expect(ticksIn(timing(daily(time), zone, policy), from, to), `${time} ${zone}`).toEqual(expected)
      }
    }
    expect(stretches).toHaveLength(changes.length)
  })

  test.each([
    ['*/15 * * * *', (time: string) => Number(time.slice(3)) % 15 === 0],
    ['30 * * * *', (time: string) => time.endsWith(':30')],
    ['0 */2 * * *', (time: string) => time.endsWith(':00') && Number(time.slice(0, 2)) % 2 === 0],
  ])('%s counts hours: it ticks whenever the clock shows it, twice when it is shown twice', (cron, fits) => {
    for (const change of changes) {
      const [from, to] = [change - DAY, change + DAY]
      expect(ticksIn(timing(cron, zone), from, to)).toEqual(ticksByClock(daysOf(zone, from, to), fits))
    }
  })

  test('a time of day that some change touches ticks once a day, every day of five years', () => {
    const times = [...new Set(changes.map((change) => shownAt(zone, change - 60_000)))]
    const [from, to] = [Date.UTC(2024, 0, 2), Date.UTC(2028, 11, 30)]
    for (const time of times) {
      const ticks = ticksIn(timing(daily(time), zone), from, to)
      const days = new Set(ticks.map((tick) => Math.round((tick - from) / DAY)))
      expect(ticks).toHaveLength((to - from) / DAY)
      expect(days.size).toBe(ticks.length)
    }
  })
})

test('without options a picked time in a gap ticks when the gap ends, and one that comes twice the first time', () => {
  const berlin = timing('30 2 * * *', 'Europe/Berlin')

  expect(
    ticksIn(berlin, Date.UTC(2026, 2, 28), Date.UTC(2026, 2, 31)).map((tick) => new Date(tick).toISOString()),
  ).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z'])
  expect(
    ticksIn(berlin, Date.UTC(2026, 9, 24), Date.UTC(2026, 9, 27)).map((tick) => new Date(tick).toISOString()),
  ).toEqual(['2026-10-24T00:30:00.000Z', '2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'])
})
