import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffMs } from './backoff.js'

const policies = fc.record({ baseMs: fc.nat(), maxMs: fc.nat() })
const attempts = fc.integer({ min: 1, max: 10_000 })
const chances = fc.double({ min: 0, max: 1, noNaN: true })

describe('backoffMs', () => {
  test('doubles with each attempt until the maximum', () => {
    const policy = { baseMs: 2_000, maxMs: 10_000 }

    expect([1, 2, 3, 4, 10_000].map((attempt) => backoffMs(policy, attempt, 1))).toEqual([
      2_000, 4_000, 8_000, 10_000, 10_000,
    ])
  })

  test('chance moves the delay between half and the whole', () => {
    const policy = { baseMs: 1_000, maxMs: 60_000 }

    expect([0, 0.5, 1].map((chance) => backoffMs(policy, 1, chance))).toEqual([500, 750, 1_000])
  })

  test('a base of nothing means no wait, however many attempts', () => {
    expect(backoffMs({ baseMs: 0, maxMs: 1_000 }, 10_000, 1)).toBe(0)
  })

  test('lies between half and the whole of the capped delay', () => {
    fc.assert(
      fc.property(policies, attempts, chances, (policy, attempt, chance) => {
        const delay = backoffMs(policy, attempt, chance)
        const whole = backoffMs(policy, attempt, 1)

        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeLessThanOrEqual(policy.maxMs)
        expect(delay).toBeLessThanOrEqual(whole)
        expect(delay).toBeGreaterThanOrEqual(Math.floor(whole / 2))
        expect(whole).toBe(Math.min(policy.maxMs, policy.baseMs * 2 ** Math.min(attempt - 1, 100)))
      }),
    )
  })

  test('never shrinks from one attempt to the next for the same chance', () => {
    fc.assert(
      fc.property(policies, attempts, chances, (policy, attempt, chance) => {
        expect(backoffMs(policy, attempt + 1, chance)).toBeGreaterThanOrEqual(backoffMs(policy, attempt, chance))
      }),
    )
  })
})
