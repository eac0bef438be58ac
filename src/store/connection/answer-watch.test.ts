import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AnswerWatch } from './answer-watch.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new Promise<never>(() => {})
/** The state of a promise, readable at any time. */
function stateOf(asked: Promise<unknown>): { now: string } {
  const state = { now: 'waiting' }
  asked.then(
    () => Object.assign(state, { now: 'answered' }),
    (error) => Object.assign(state, { now: error.message }),
  )
  return state
}

test('a call is given up after its own limit and not earlier', async () => {
  const watch = new AnswerWatch()
  const short = stateOf(watch.inTime(never, 1000))
  const long = stateOf(watch.inTime(never, 5000))

  await vi.advanceTimersByTimeAsync(1000)
  expect([short.now, long.now]).toEqual(['waiting', 'waiting'])
  await vi.advanceTimersByTimeAsync(500)
  expect([short.now, long.now]).toEqual(['timeout: no answer within 1000 ms', 'waiting'])
  await vi.advanceTimersByTimeAsync(4000)
  expect(long.now).toBe('timeout: no answer within 5000 ms')
})

test('an answer or an error is passed on, and nothing happens afterwards', async () => {
  const watch = new AnswerWatch()
  const giveUp = vi.fn()
  watch.begin(giveUp, 1000)
  watch.end(giveUp)

  expect(await watch.inTime(Promise.resolve('rows'), 1000)).toBe('rows')
  await expect(watch.inTime(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(giveUp).not.toHaveBeenCalled()
})

test('the timer runs while calls are made now and then, and ends when none is', async () => {
  const watch = new AnswerWatch()
  for (let n = 0; n < 5; n += 1) {
    await watch.inTime(Promise.resolve(), 1000)
    await vi.advanceTimersByTimeAsync(400)
    expect(vi.getTimerCount()).toBe(1)
  }

  await vi.advanceTimersByTimeAsync(1000)
  expect(vi.getTimerCount()).toBe(0)
  const late = stateOf(watch.inTime(never, 500))
  await vi.advanceTimersByTimeAsync(1500)
  expect(late.now).toBe('timeout: no answer within 500 ms')
})
