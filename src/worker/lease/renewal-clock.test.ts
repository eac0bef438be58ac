import { expect, test } from 'vitest'
import { RenewalClock } from './renewal-clock.js'

/** The same memory seen by two threads. */
function bothSides() {
  const keeper = new RenewalClock()
  return { keeper, watchdog: new RenewalClock(keeper.memory) }
}

test('a keeper is late three seconds after it last got through', () => {
  const { keeper, watchdog } = bothSides()
  keeper.kept(10_000)
  keeper.holds(30_000)

  expect([watchdog.isLate(13_000), watchdog.isLate(13_001)]).toEqual([false, true])
})

test.each([
  [1000, 375],
  [4000, 1500],
  [7999, 2999.625],
  [8000, 3000],
  [86_400_000, 3000],
])('with leases of %i ms it is late after %d ms, with four looks until then', (leaseMs, lateMs) => {
  const { keeper, watchdog } = bothSides()
  keeper.kept(10_000)
  keeper.holds(leaseMs)

  expect([watchdog.isLate(10_000 + lateMs), watchdog.isLate(10_000.1 + lateMs)]).toEqual([false, true])
  expect(watchdog.lookMs).toBe(lateMs / 4)
})

test('leases are short below ten seconds, and not while nothing is held', () => {
  const { keeper, watchdog } = bothSides()
  expect(watchdog.isShort).toBe(false)
  keeper.holds(10_000)
  expect(watchdog.isShort).toBe(false)
  keeper.holds(9999)
  expect(watchdog.isShort).toBe(true)
})

test('the keeper sees what was renewed for it', () => {
  const { keeper, watchdog } = bothSides()
  expect(keeper.renewedAt).toBe(0)

  watchdog.watchdogRenewed(12_345.678)

  expect(keeper.renewedAt).toBeCloseTo(12_345.678, 3)
})

test('a rest of ten minutes is over at once when it was dismissed', () => {
  const { keeper, watchdog } = bothSides()
  keeper.dismiss()

  watchdog.rest(600_000)

  expect(watchdog.isDismissed).toBe(true)
})

test('whoever stands in is free when dismissed before it went to work, and goes to none after that', () => {
  const { keeper, watchdog } = bothSides()

  expect([keeper.dismiss(), watchdog.goToWork()]).toEqual([true, false])
})

test('whoever has gone to work is not free, and one that takes its place may go to work too', () => {
  const { keeper, watchdog } = bothSides()

  expect([watchdog.goToWork(), watchdog.goToWork(), keeper.dismiss()]).toEqual([true, true, false])
})
