// What a handler throws to say more than "failed". Recognised by code, since two copies of a package have two classes.

import { type Duration, durationMs } from '../value/duration.js'
import { readProperty } from '../value/read-property.js'

/** Fails the job for good: `throw new NonRetryable('the customer is gone')`. */
export class NonRetryable extends Error {
  static {
    NonRetryable.prototype.name = 'NonRetryable'
  }

  readonly code = 'NON_RETRYABLE'
}

/** Fails this attempt and sets the wait before the next one: `throw new RetryAfter('10m', 'rate limit reached')`. */
export class RetryAfter extends Error {
  static {
    RetryAfter.prototype.name = 'RetryAfter'
  }

  readonly code = 'RETRY_AFTER'
  readonly delayMs: number

  constructor(delay: Duration, message?: string, options?: { cause?: unknown }) {
    const delayMs = durationMs(delay, 'RetryAfter delay')
    super(message ?? `retry after ${delayMs} ms`, options)
    this.delayMs = delayMs
  }
}

/** Never throws, whatever was thrown. */
export function isNonRetryable(thrown: unknown): thrown is NonRetryable {
  return readProperty(thrown, 'code') === 'NON_RETRYABLE'
}

/** True only with a delay that can be used. Never throws, whatever was thrown. */
export function isRetryAfter(thrown: unknown): thrown is RetryAfter {
  const delayMs = readProperty(thrown, 'delayMs')
  return readProperty(thrown, 'code') === 'RETRY_AFTER' && Number.isFinite(delayMs) && (delayMs as number) >= 0
}
