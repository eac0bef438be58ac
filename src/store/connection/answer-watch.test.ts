import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AnswerWatch } from './answer-watch.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new Promise<never>(() => {})
/** What has become of it, read at any time. */
function fateOf(asked: Promise<unknown>): { now: string } {
  const fate = { now: 'waiting' }
  asked.then(
    () => Object.assign(fate, { now: 'answered' }),
    (error) => Object.assign(fate, { now: error.message }),
  )
  return fate
}

test('who waits for longer than was agreed is told, nobody before that', async () => {
  const watch = new AnswerWatch()
  const short = fateOf(watch.inTime(never, 1000))
  const long = fateOf(watch.inTime(never, 5000))

  await vi.advanceTimersByTimeAsync(1000)
  expect([short.now, long.now]).toEqual(['waiting', 'waiting'])
  await vi.advanceTimersByTimeAsync(500)
  expect([short.now, long.now]).toEqual(['timeout: no answer within 1000 ms', 'waiting'])
  await vi.advanceTimersByTimeAsync(4000)
  expect(long.now).toBe('timeout: no answer within 5000 ms')
})

test('an answer or a refusal that comes is handed on, and nothing follows it', async () => {
  const watch = new AnswerWatch()
  const giveUp = vi.fn()
  watch.begin(giveUp, 1000)
  watch.end(giveUp)

  expect(await watch.inTime(Promise.resolve('rows'), 1000)).toBe('rows')
  await expect(watch.inTime(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(giveUp).not.toHaveBeenCalled()
})

test('the timer stays while somebody asks now and then, and ends when nobody does', async () => {
  const watch = new AnswerWatch()
  for (let n = 0; n < 5; n += 1) {
    await watch.inTime(Promise.resolve(), 1000)
    await vi.advanceTimersByTimeAsync(400)
    expect(vi.getTimerCount()).toBe(1)
  }

  await vi.advanceTimersByTimeAsync(1000)
  expect(vi.getTimerCount()).toBe(0)
  const late = fateOf(watch.inTime(never, 500))
  await vi.advanceTimersByTimeAsync(1500)
  expect(late.now).toBe('timeout: no answer within 500 ms')
})
