import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Store } from '../store/store.js'
import { Reaper } from './reaper.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 86_400_000

/** A reaper whose database answers as the test says; `asked` are the graces it was asked with. */
function reaper() {
  const asked: number[] = []
  const answers = { isDown: false }
  const database = {
    async prepared(_: string, [, graceMs]: [number, number]) {
      asked.push(graceMs)
      if (answers.isDown) throw new Error('no connection')
      return { rows: [] }
    },
  }
  const store = { schema: 'holdfast', open: async () => database } as unknown as Store
  return { subject: new Reaper(store, { onReaped: () => {}, onFault: () => {} }), asked, answers }
}

test('nothing is asked until somebody tells that a lease may be lost', async () => {
  const { subject, asked } = reaper()
  subject.expect(undefined)
  subject.expect(501)
  await vi.advanceTimersByTimeAsync(DAY_MS)

  expect(asked).toEqual([])
  await subject.stop()
})

test('what will be lost soon is reaped then, and what is lost already at once', async () => {
  const { subject, asked } = reaper()
  subject.expect(400)
  await vi.advanceTimersByTimeAsync(399)
  expect(asked).toEqual([])
  await vi.advanceTimersByTimeAsync(100)
  expect(asked).toEqual([2000])

  subject.expect(-1000)
  await vi.advanceTimersByTimeAsync(100)

  expect(asked).toEqual([2000, 2000])
  await subject.stop()
})

test('many words before a round make one round', async () => {
  const { subject, asked } = reaper()
  for (const inMs of [300, 100, 0]) subject.expect(inMs)
  await vi.advanceTimersByTimeAsync(1000)

  expect(asked).toEqual([2000])
  await subject.stop()
})

test('after a heartbeat that got no answer nobody is dead until the database has answered for four seconds', async () => {
  const { subject, asked, answers } = reaper()
  answers.isDown = true
  subject.unanswered()
  await vi.advanceTimersByTimeAsync(10_000)
  answers.isDown = false
  const whileDown = asked.length
  await vi.advanceTimersByTimeAsync(4000)
  // Until it is sure it goes on by itself, and only leases that are over are reaped.
  expect(asked.length).toBeGreaterThan(whileDown)
  expect(new Set(asked)).toEqual(new Set([DAY_MS]))

  await vi.advanceTimersByTimeAsync(60_000)

  expect(asked.filter((graceMs) => graceMs !== DAY_MS)).toEqual([2000])
  expect(asked.at(-1)).toBe(2000)
  await subject.stop()
})

test('stop leaves no timer', async () => {
  const { subject, asked } = reaper()
  subject.expect(100)
  await subject.stop()
  subject.expect(0)
  await vi.advanceTimersByTimeAsync(1000)

  expect(asked).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})
