import { describe, expect, test } from 'vitest'
import { RateLimit } from './rate-limit.js'

describe('RateLimit', () => {
  test('grants the burst, then says how long to wait', () => {
    const limit = new RateLimit({ perSecond: 2, burst: 3 })

    expect([1, 2, 3].map(() => limit.take('a', 0))).toEqual([0, 0, 0])
    expect(limit.take('a', 0)).toBeCloseTo(0.5)
    expect(limit.take('a', 500)).toBe(0)
  })

  test('fills no further than the burst', () => {
    const limit = new RateLimit({ perSecond: 100, burst: 1 })
    limit.take('a', 0)

    expect(limit.take('a', 3_600_000)).toBe(0)
    expect(limit.take('a', 3_600_000)).toBeGreaterThan(0)
  })

  test('keeps who asks apart', () => {
    const limit = new RateLimit({ perSecond: 1, burst: 1 })
    limit.take('a', 0)

    expect(limit.take('b', 0)).toBe(0)
  })

  test('forgets the names that were quiet the longest', () => {
    const limit = new RateLimit({ perSecond: 0.001, burst: 1 })
    limit.take('quiet', 0)
    for (let i = 0; i < 10_000; i += 1) limit.take(`name ${i}`, 1)

    expect(limit.take('quiet', 2)).toBe(0)
    expect(limit.take('name 9999', 2)).toBeGreaterThan(0)
  })
})
