import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BUCKET_BOUNDS, spreadOf } from './spread.js'

const EMPTY = Array.from({ length: BUCKET_BOUNDS.length + 1 }, () => 0)
const filled = (counts: Record<number, number>) => EMPTY.map((_, place) => counts[place] ?? 0)

test('nothing measured has no spread', () => {
  expect(spreadOf(EMPTY, 0)).toEqual({ count: 0, meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null })
})

test('spans of one bucket lie evenly between its bounds', () => {
  expect(spreadOf(filled({ 4: 100 }), 7500)).toEqual({ count: 100, meanMs: 75, p50Ms: 75, p95Ms: 97.5, p99Ms: 99.5 })
})

test('the few slow ones show in the high shares alone', () => {
  const { p50Ms, p95Ms, p99Ms } = spreadOf(filled({ 0: 97, 9: 3 }), 0)

  expect(p50Ms).toBeLessThan(5)
  expect(p95Ms).toBeLessThan(5)
  expect(p99Ms).toBeGreaterThan(2500)
})

test('of what lies beyond the last bound no more than that is said', () => {
  expect(spreadOf(filled({ [BUCKET_BOUNDS.length]: 3 }), 9e9)).toMatchObject({ p50Ms: 3_600_000, p99Ms: 3_600_000 })
})

test('higher shares are never smaller', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1000 }), { minLength: EMPTY.length, maxLength: EMPTY.length }), (buckets) => {
      const { count, p50Ms, p95Ms, p99Ms } = spreadOf(buckets, 0)
      if (count === 0) return
      expect(p50Ms).toBeLessThanOrEqual(p95Ms as number)
      expect(p95Ms).toBeLessThanOrEqual(p99Ms as number)
    }),
  )
})
