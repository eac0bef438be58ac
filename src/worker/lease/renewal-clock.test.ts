import { expect, test } from 'vitest'
import { KeeperWatch } from './renewal-clock.js'

/** The same memory seen by two threads. */
function bothSides() {
  const keeper = new KeeperWatch()
  return { keeper, standIn: new KeeperWatch(keeper.memory) }
}

test('a keeper is late three seconds after it last got through', () => {
  const { keeper, standIn } = bothSides()
  keeper.kept(10_000)
  keeper.holds(30_000)

  expect([standIn.isLate(13_000), standIn.isLate(13_001)]).toEqual([false, true])
})

test.each([
  [1000, 375],
  [4000, 1500],
  [7999, 2999.625],
  [8000, 3000],
  [86_400_000, 3000],
])('with leases of %i ms it is late after %d ms, with four looks until then', (leaseMs, lateMs) => {
  const { keeper, standIn } = bothSides()
  keeper.kept(10_000)
  keeper.holds(leaseMs)

  expect([standIn.isLate(10_000 + lateMs), standIn.isLate(10_000.1 + lateMs)]).toEqual([false, true])
  expect(standIn.lookMs).toBe(lateMs / 4)
})

test('leases are short below ten seconds, and not while nothing is held', () => {
  const { keeper, standIn } = bothSides()
  expect(standIn.isShort).toBe(false)
  keeper.holds(10_000)
  expect(standIn.isShort).toBe(false)
  keeper.holds(9999)
  expect(standIn.isShort).toBe(true)
})

test('the keeper sees what was renewed for it', () => {
  const { keeper, standIn } = bothSides()
  expect(keeper.renewedAt).toBe(0)

  standIn.standInRenewed(12_345.678)

  expect(keeper.renewedAt).toBeCloseTo(12_345.678, 3)
})

test('a rest of ten minutes is over at once when it was dismissed', () => {
  const { keeper, standIn } = bothSides()
  keeper.dismiss()

  standIn.rest(600_000)

  expect(standIn.isDismissed).toBe(true)
})

test('whoever stands in is free when dismissed before it went to work, and goes to none after that', () => {
  const { keeper, standIn } = bothSides()

  expect([keeper.dismiss(), standIn.goToWork()]).toEqual([true, false])
})

test('whoever has gone to work is not free, and one that takes its place may go to work too', () => {
  const { keeper, standIn } = bothSides()

  expect([standIn.goToWork(), standIn.goToWork(), keeper.dismiss()]).toEqual([true, true, false])
})
