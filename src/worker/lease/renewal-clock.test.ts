import { expect, test } from 'vitest'
import { RenewalClock } from './renewal-clock.js'

/** The same memory seen by two threads. */
function bothSides() {
  const worker = new RenewalClock()
  return { worker, watchdog: new RenewalClock(worker.memory) }
}

test('a renewer is late three seconds after its last success', () => {
  const { worker, watchdog } = bothSides()
  worker.renewerSucceeded(10_000)
  worker.setShortestLease(30_000)

  expect([watchdog.isRenewerLate(13_000), watchdog.isRenewerLate(13_001)]).toEqual([false, true])
})

test.each([
  [1000, 375],
  [4000, 1500],
  [7999, 2999.625],
  [8000, 3000],
  [86_400_000, 3000],
])('with leases of %i ms it is late after %d ms, with four checks until then', (leaseMs, lateMs) => {
  const { worker, watchdog } = bothSides()
  worker.renewerSucceeded(10_000)
  worker.setShortestLease(leaseMs)

  expect([watchdog.isRenewerLate(10_000 + lateMs), watchdog.isRenewerLate(10_000.1 + lateMs)]).toEqual([false, true])
  expect(watchdog.checkMs).toBe(lateMs / 4)
})

test('leases are short below ten seconds, and not while none is held', () => {
  const { worker, watchdog } = bothSides()
  expect(watchdog.hasShortLease).toBe(false)
  worker.setShortestLease(10_000)
  expect(watchdog.hasShortLease).toBe(false)
  worker.setShortestLease(9999)
  expect(watchdog.hasShortLease).toBe(true)
})

test('the worker sees when the watchdog renewed its leases', () => {
  const { worker, watchdog } = bothSides()
  expect(worker.watchdogRenewedAt).toBe(0)

  watchdog.watchdogRenewed(12_345.678)

  expect(worker.watchdogRenewedAt).toBeCloseTo(12_345.678, 3)
})
