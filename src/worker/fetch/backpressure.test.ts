import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_BACKPRESSURE } from '../options.js'
import { nextShare } from './backpressure.js'

const CALM = { delayMs: 0, heapShare: 0.1 }

test('a late event loop halves the share, a full heap does too', () => {
  expect(nextShare(1, { ...CALM, delayMs: 101 }, DEFAULT_BACKPRESSURE)).toBe(0.5)
  expect(nextShare(1, { ...CALM, heapShare: 0.9 }, DEFAULT_BACKPRESSURE)).toBe(0.5)
})

test('a calm process gets its slots back step by step', () => {
  expect(nextShare(0.5, CALM, DEFAULT_BACKPRESSURE)).toBeCloseTo(0.7)
  expect(nextShare(0.95, CALM, DEFAULT_BACKPRESSURE)).toBe(1)
})

test('the share stays above nothing and at most the whole, whatever the load was', () => {
  const load = fc.record({
    delayMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    heapShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(load, { maxLength: 50 }), (loads) => {
      const share = loads.reduce((before, now) => nextShare(before, now, DEFAULT_BACKPRESSURE), 1)
      expect(share).toBeGreaterThan(0)
      expect(share).toBeLessThanOrEqual(1)
    }),
  )
})
