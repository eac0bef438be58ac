// Ticks of patterns and intervals, start and end, and the latest of many.
import { describe, expect, test } from 'vitest'
import type { Timing } from '../domain/schedule/schedule.js'
import { checkTicks, latestTick, nextTick, ticksBetween } from './ticks.js'

const timing = (of: Partial<Timing>): Timing => ({
  cron: null,
  everyMs: null,
  timezone: 'UTC',
  gap: null,
  twice: null,
  startsAt: null,
  endsAt: null,
  ...of,
})
const at = (iso: string) => new Date(`2026-${iso}Z`)

describe('cron', () => {
  test.each([
    ['0 2 * * *', '03-01T02:00', '03-02T02:00'],
    ['0 2 * * *', '03-01T01:59:59.999', '03-01T02:00'],
    ['*/20 * * * * *', '03-01T00:00:19.5', '03-01T00:00:20'],
    ['0 9 * * MON-FRI', '03-06T09:00', '03-09T09:00'],
    ['0 0 L * *', '02-01T00:00', '02-28T00:00'],
    ['0 12 * * TUE#2', '03-01T00:00', '03-10T12:00'],
  ])('%s after %s is %s', (cron, after, next) => {
    expect(nextTick(timing({ cron }), at(after))).toEqual(at(next))
  })

  test('the time zone decides which instant a local time is', () => {
    const tokyo = timing({ cron: '0 9 * * *', timezone: 'Asia/Tokyo' })

    expect(nextTick(tokyo, at('03-01T00:00'))).toEqual(at('03-02T00:00'))
  })

  test.each([
    '* * * *',
    '* * * * * * *',
    '@reboot',
    '@daily',
    '2026-01-01T00:00:00',
    '? * * * *',
    '61 * * * *',
    '0 0 30 2 *',
    `0,${'1,'.repeat(60)}2 * * * *`,
    '',
  ])('the pattern %j is refused', (cron) => {
    expect(() => checkTicks(timing({ cron }))).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  test.each(['Europe/Nowhere', '+02:00', ''])('the time zone %j is refused', (timezone) => {
    expect(() => checkTicks(timing({ cron: '* * * * *', timezone }))).toThrow(/timezone/)
  })
})

describe('every', () => {
  test('ticks fall on multiples of the interval since 1970', () => {
    const quarterly = timing({ everyMs: 900_000 })

    expect(nextTick(quarterly, at('03-01T10:14:59.999'))).toEqual(at('03-01T10:15'))
    expect(nextTick(quarterly, at('03-01T10:15'))).toEqual(at('03-01T10:30'))
  })

  test('with a start they are counted from it', () => {
    const odd = timing({ everyMs: 900_000, startsAt: at('03-01T10:07') })

    expect(nextTick(odd, at('01-01T00:00'))).toEqual(at('03-01T10:07'))
    expect(nextTick(odd, at('03-01T10:07'))).toEqual(at('03-01T10:22'))
  })
})

test('no tick lies before the start, or at the end and after it', () => {
  const between = timing({ cron: '0 * * * *', startsAt: at('03-01T10:00'), endsAt: at('03-01T12:00') })

  expect(ticksBetween(between, at('01-01T00:00'), at('12-01T00:00'), 100)).toEqual([
    at('03-01T10:00'),
    at('03-01T11:00'),
  ])
  expect(nextTick(between, at('03-01T11:00'))).toBeUndefined()
})

test('a start and an end with no tick between them are refused', () => {
  const never = timing({ cron: '0 2 * * *', startsAt: at('03-01T03:00'), endsAt: at('03-01T04:00') })

  expect(() => checkTicks(never)).toThrow(/endsAt/)
})

test('ticksBetween leaves out its beginning, takes its end, and stops at its limit', () => {
  const hourly = timing({ cron: '0 * * * *' })

  expect(ticksBetween(hourly, at('03-01T00:00'), at('03-01T02:00'), 10)).toEqual([at('03-01T01:00'), at('03-01T02:00')])
  expect(ticksBetween(hourly, at('03-01T00:00'), at('03-02T00:00'), 2)).toHaveLength(2)
})

test.each([
  ['* * * * * *', '03-01T00:00:00', '09-01T12:34:56.7', '09-01T12:34:56'],
  ['0 2 * * *', '03-01T02:00:00', '09-01T01:00', '08-31T02:00'],
  ['0 0 1 1 *', '01-01T00:00:00', '12-31T00:00', undefined],
])('the latest of %s after %s up to %s is %s', (cron, after, to, latest) => {
  expect(latestTick(timing({ cron }), at(after), at(to))).toEqual(latest && at(latest))
})
