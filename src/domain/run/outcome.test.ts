import { describe, expect, test } from 'vitest'
import { LIMITS } from '../value/json.js'
import { hostileValues } from './hostile-values.test-support.js'
import { cancel, cancelled, completed, failed, isCancel, isSnooze, lost, released, snooze, snoozed } from './outcome.js'

describe('outcomes', () => {
  const failure = { name: 'Error', message: 'x' }

  test('are plain values, one kind each', () => {
    expect([completed('{}'), snoozed(5), cancelled('gone'), cancelled(), released(), lost()]).toEqual([
      { kind: 'completed', output: '{}' },
      { kind: 'snoozed', delayMs: 5 },
      { kind: 'cancelled', reason: 'gone' },
      { kind: 'cancelled', reason: null },
      { kind: 'released' },
      { kind: 'lost' },
    ])
  })

  test('a failure is retried by policy unless it says otherwise', () => {
    expect(failed(failure)).toEqual({ kind: 'failed', failure, retry: { kind: 'policy' } })
    expect(failed(failure, { kind: 'after', delayMs: 9 }).retry).toEqual({ kind: 'after', delayMs: 9 })
  })
})

describe('snooze and cancel', () => {
  test('snooze carries its delay and is frozen', () => {
    const value = snooze('10m')

    expect(value.delayMs).toBe(600_000)
    expect(Object.isFrozen(value)).toBe(true)
    expect([isSnooze(value), isCancel(value)]).toEqual([true, false])
  })

  test('snooze refuses a delay that is none', () => {
    expect(() => snooze('later' as never)).toThrow(/^snooze delay must be/)
  })

  test('cancel carries its reason, made storable and bounded, and is frozen', () => {
    const value = cancel('customer\u0000gone')

    expect(value.reason).toBe('customer\ufffdgone')
    expect(cancel().reason).toBeNull()
    expect(cancel('x'.repeat(5_000)).reason).toHaveLength(LIMITS.reasonBytes - '…'.length * 2)
    expect(Object.isFrozen(value)).toBe(true)
    expect([isSnooze(value), isCancel(value)]).toEqual([false, true])
  })

  test('values of a second copy of the package are known by their brand', () => {
    expect(isSnooze({ [Symbol.for('holdfast.snooze')]: true, delayMs: 1 })).toBe(true)
    expect(isCancel({ [Symbol.for('holdfast.cancel')]: true, reason: null })).toBe(true)
  })

  test('an output that looks like one is an output', () => {
    expect(isSnooze({ kind: 'snooze', delayMs: 5 })).toBe(false)
    expect(isCancel({ reason: 'x' })).toBe(false)
  })

  test.each(hostileValues())('$title is neither, and asking does not throw', ({ value }) => {
    expect(isSnooze(value)).toBe(false)
    expect(isCancel(value)).toBe(false)
  })
})
