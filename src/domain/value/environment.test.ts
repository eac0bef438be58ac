import { expect, test } from 'vitest'
import { positiveNumber } from './environment.js'

test('a variable that is absent or empty gives the fallback', () => {
  expect(positiveNumber({}, 'POLL_INTERVAL_SECONDS', 10)).toBe(10)
  expect(positiveNumber({ POLL_INTERVAL_SECONDS: '' }, 'POLL_INTERVAL_SECONDS', 10)).toBe(10)
})

test('a positive number is taken as it is', () => {
  expect(positiveNumber({ POLL_INTERVAL_SECONDS: '2.5' }, 'POLL_INTERVAL_SECONDS', 10)).toBe(2.5)
})

test.each(['0', '-1', 'ten', '1e3', ' 5', 'Infinity'])('%j is refused, naming the variable and the value', (text) => {
  expect(() => positiveNumber({ POLL_INTERVAL_SECONDS: text }, 'POLL_INTERVAL_SECONDS', 10)).toThrowError(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      details: expect.objectContaining({ option: 'POLL_INTERVAL_SECONDS' }),
    }),
  )
})
