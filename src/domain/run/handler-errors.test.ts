import { describe, expect, test } from 'vitest'
import { isNonRetryable, isRetryAfter, NonRetryable, RetryAfter } from './handler-errors.js'
import { hostileValues } from './hostile-values.test-support.js'

describe('NonRetryable', () => {
  test('carries message, code and cause', () => {
    const cause = new Error('gone')
    const error = new NonRetryable('the customer is gone', { cause })

    expect(error).toMatchObject({ name: 'NonRetryable', code: 'NON_RETRYABLE', message: 'the customer is gone', cause })
    expect(error.stack).toMatch(/^NonRetryable: the customer is gone/)
    expect(isNonRetryable(error)).toBe(true)
    expect(isRetryAfter(error)).toBe(false)
  })

  test('is known by its code alone', () => {
    expect(isNonRetryable({ code: 'NON_RETRYABLE' })).toBe(true)
  })
})

describe('RetryAfter', () => {
  test('carries the delay in milliseconds, message and cause', () => {
    const error = new RetryAfter('10m', 'rate limit reached', { cause: 429 })

    expect(error).toMatchObject({ name: 'RetryAfter', code: 'RETRY_AFTER', delayMs: 600_000, cause: 429 })
    expect(error.message).toBe('rate limit reached')
    expect(isRetryAfter(error)).toBe(true)
    expect(isNonRetryable(error)).toBe(false)
  })

  test('says the delay when no message is given', () => {
    expect(new RetryAfter(1_500).message).toBe('retry after 1500 ms')
  })

  test('refuses a delay that is none', () => {
    expect(() => new RetryAfter('soon' as never)).toThrow(/^RetryAfter delay must be/)
  })

  test.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, -1, '5'])(
    'is not known by its code when the delay is %s',
    (delayMs) => {
      expect(isRetryAfter({ code: 'RETRY_AFTER', delayMs })).toBe(false)
      expect(isRetryAfter({ code: 'RETRY_AFTER', delayMs: 5 })).toBe(true)
    },
  )
})

test.each(hostileValues())('$title is neither, and asking does not throw', ({ value }) => {
  expect(isNonRetryable(value)).toBe(false)
  expect(isRetryAfter(value)).toBe(false)
})
