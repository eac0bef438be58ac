import { expect, test } from 'vitest'
import { DEFAULT_LIMITS, readLimits } from './thresholds.js'

test('a limit is set by its name; the others keep their defaults', () => {
  expect(readLimits(['transaction=10m', 'memory-mb=512'])).toEqual({
    ...DEFAULT_LIMITS,
    transactionMs: 600_000,
    memoryMb: 512,
  })
  expect(readLimits([])).toEqual(DEFAULT_LIMITS)
})

test.each(['patience=1s', 'transaction', 'transaction=soon', 'memory-mb=4 GB', 'toString=1'])(
  '%j is refused',
  (text) => {
    expect(() => readLimits([text])).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  },
)
