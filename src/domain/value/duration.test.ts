import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isHoldfastError } from '../error/errors.js'
import { type Duration, durationMs } from './duration.js'
import { LIMITS } from './sizes.js'

describe('durationMs', () => {
  test.each([
    [0, 0],
    [1500, 1500],
    [0.6, 1],
    ['250ms', 250],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['3650d', LIMITS.durationMs],
  ] as [Duration, number][])('%j is %d ms', (duration, expected) => {
    expect(durationMs(duration, 'lease')).toBe(expected)
  })

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '-5s', '5w', '5', 's', '', ' 5s', '5 s', '5S', '1e3s', '3651d'])(
    '%j is refused, and the refusal names the option and the value',
    (duration) => {
      const refusal = refusalOf(() => durationMs(duration as Duration, 'lease'))

      expect(refusal).toMatchObject({ code: 'INVALID_OPTION', details: { option: 'lease' } })
      expect(refusal.message).toContain('lease')
      expect(refusal.message).toContain(typeof duration === 'string' ? JSON.stringify(duration) : String(duration))
    },
  )

  test.each([null, undefined, {}, [], true, 5n, Symbol('s')])('a value of another type is refused (%s)', (duration) => {
    expect(() => durationMs(duration as never, 'lease')).toThrow(
      /^lease must be a number of milliseconds or a text like/,
    )
  })

  test('every whole amount of every unit gives amount times unit, or is refused for its length', () => {
    const unitMs = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 } as const
    const units = fc.constantFrom(...(Object.keys(unitMs) as (keyof typeof unitMs)[]))
    fc.assert(
      fc.property(fc.nat(), units, (amount, unit) => {
        const expected = amount * unitMs[unit]
        if (expected > LIMITS.durationMs) expect(() => durationMs(`${amount}${unit}`, 'x')).toThrow('10 years')
        else expect(durationMs(`${amount}${unit}`, 'x')).toBe(expected)
      }),
    )
  })

  test('anything at all gives whole milliseconds within the limit or INVALID_OPTION', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.double(), fc.string()), (value) => {
        try {
          const ms = durationMs(value as Duration, 'x')
          expect(Number.isInteger(ms) && ms >= 0 && ms <= LIMITS.durationMs).toBe(true)
        } catch (error) {
          expect(isHoldfastError(error, 'INVALID_OPTION')).toBe(true)
        }
      }),
    )
  })
})

function refusalOf(act: () => unknown): Error {
  try {
    act()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was refused')
}
