import { describe, expect, test } from 'vitest'
import { ERRORS, isHoldfastError } from '../error/errors.js'
import { JobCancelled, JobSuperseded, JobTimedOut, LeaseLost, Shutdown } from './abort-reasons.js'

describe('abort reasons', () => {
  test.each([
    [JobTimedOut, 'TIMED_OUT'],
    [JobCancelled, 'CANCELLED'],
    [JobSuperseded, 'SUPERSEDED'],
    [LeaseLost, 'LEASE_LOST'],
    [Shutdown, 'SHUTDOWN'],
  ] as const)('%o is a HoldfastError with the code %s', (Reason, code) => {
    const plain = new Reason()
    const told = new Reason('because', { details: { after: 5 } })

    expect(plain.message).toBe(ERRORS[code].text)
    expect(isHoldfastError(plain, code)).toBe(true)
    expect(told).toMatchObject({ code, message: 'because', details: { after: 5 } })
  })

  test('a handler that throws its signal on gets the reason itself', () => {
    const controller = new AbortController()
    const reason = new LeaseLost()
    controller.abort(reason)

    expect(() => controller.signal.throwIfAborted()).toThrow(reason)
  })
})
