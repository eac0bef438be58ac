import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HoldfastError } from '../domain/error/errors.js'
import { RepeatedFaults } from './repeated-faults.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function faultLog() {
  const lines: string[] = []
  const faults = new RepeatedFaults((_, text) => lines.push(text))
  return { lines, fail: (doing: string, error: unknown) => faults.add({ worker: 'w', doing, error }) }
}

const away = (text: string) => new HoldfastError('CONNECTION_FAILED', text)

test('a fault is said at once, its repetitions once a minute with their number', () => {
  const { lines, fail } = faultLog()
  for (let n = 0; n < 38; n += 1) fail(n % 2 ? 'claiming from a' : 'polling', away(`refused ${n}`))
  expect(lines).toEqual(['polling failed'])

  vi.advanceTimersByTime(60_000)
  expect(lines.slice(1)).toEqual(['claiming from a failed; this cause 37 more times in the last minute'])

  fail('polling', away('refused'))
  vi.advanceTimersByTime(60_000)
  expect(lines.slice(2)).toEqual(['polling failed; this cause 1 more times in the last minute'])
})

test('after a minute without it, a fault is said at once again, and nothing is kept', () => {
  const { lines, fail } = faultLog()
  fail('polling', away('refused'))
  vi.advanceTimersByTime(60_000)
  expect(vi.getTimerCount()).toBe(0)

  fail('polling', away('refused'))

  expect(lines).toEqual(['polling failed', 'polling failed'])
})

test('another cause is said at once, whatever was thrown', () => {
  const { lines, fail } = faultLog()
  fail('settling 3 jobs', away('refused'))
  fail('settling 3 jobs', Object.assign(new Error('no permission for a'), { code: '42501' }))
  fail('settling 3 jobs', Object.assign(new Error('no permission for b'), { code: '42501' }))
  fail('a listener of job.failed', undefined)
  fail('a listener of job.failed', null)

  expect(lines).toHaveLength(5)
})
