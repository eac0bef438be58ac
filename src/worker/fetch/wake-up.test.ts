import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Listening } from '../../store/connection/listening.js'
import type { Store } from '../../store/store.js'
import { WakeUp } from './wake-up.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.advanceTimersByTime(1)
})
afterEach(() => {
  vi.useRealTimers()
})

const HOUR = 3_600_000

/** A wake-up whose answers the test chooses: when the next job falls due, and whether it can be told. */
function wakeup({ listen = true, pollMs = HOUR } = {}) {
  const answers = { dueMs: null as number | null, isHeard: true }
  const said: number[] = []
  const listeners: { heard(): void; lost(error: Error): void; isClosed: boolean }[] = []
  const database = {
    async prepared(_: string, [, , sleepMs]: [string, string[], number]) {
      said.push(sleepMs)
      return { rows: [{ due_ms: answers.dueMs }] }
    },
    async listen(_: string, heard: () => void, lost: (error: Error) => void): Promise<Listening> {
      const listener = { heard, lost, isClosed: false }
      listeners.push(listener)
      return {
        check: async () => answers.isHeard,
        async close() {
          listener.isClosed = true
        },
      }
    },
  }
  const store = { schema: 'holdfast', open: async () => database } as unknown as Store
  const subject = new WakeUp(store, { worker: 'w', queues: ['q'], pollMs, listen, onFault: () => {} })
  const nap = subject.sleep.bind(subject)
  let looks = 0
  /** A lane that looks, finds nothing, and sleeps again. */
  const lookAndSleep = async () => {
    for (;;) {
      looks += 1
      await nap()
    }
  }
  return { subject, nap, answers, said, listeners, lookAndSleep, looks: () => looks }
}

/** The wake-up has listened, said that its worker sleeps, and looked as often as it does for news. */
async function asleep(parts: ReturnType<typeof wakeup>) {
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  void parts.lookAndSleep()
  await vi.advanceTimersByTimeAsync(1000)
}

test('a worker that begins to sleep says so and looks again at once, after 20 and after 200 ms', async () => {
  const parts = wakeup()
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  void parts.lookAndSleep()
  const looked: number[] = []
  for (const ms of [0, 19, 1, 179, 1, 10_000]) {
    await vi.advanceTimersByTimeAsync(ms)
    looked.push(parts.looks())
  }

  expect(looked).toEqual([2, 2, 3, 3, 4, 4])
  expect(parts.said).toEqual([2 * HOUR])
})

test('whoever is woken and sleeps again looks once more: something may have fallen due in between', async () => {
  const parts = wakeup()
  await asleep(parts)
  const before = parts.looks()

  parts.subject.wake()
  await vi.advanceTimersByTimeAsync(1000)

  // Once because it was woken, once more after it has said that it sleeps.
  expect(parts.looks() - before).toBe(2)
})

test('NOTIFY wakes a sleeping worker', async () => {
  const parts = wakeup()
  await asleep(parts)
  const before = parts.looks()

  parts.listeners[0]?.heard()
  await vi.advanceTimersByTimeAsync(0)

  expect(parts.looks()).toBeGreaterThan(before)
})

test('a sleeping worker wakes when the next job falls due', async () => {
  const parts = wakeup()
  parts.answers.dueMs = 500
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  void parts.lookAndSleep()
  await vi.advanceTimersByTimeAsync(499)
  const before = parts.looks()
  parts.answers.dueMs = null

  await vi.advanceTimersByTimeAsync(1)

  expect(parts.looks()).toBeGreaterThan(before)
})

test('where a job falls due every millisecond, a sleeping worker looks for them every 10 ms', async () => {
  const parts = wakeup()
  parts.answers.dueMs = 1
  await asleep(parts)
  const before = parts.looks()

  await vi.advanceTimersByTimeAsync(1000)

  // Each alarm is two looks: because it rang, and once more after the worker has said that it sleeps.
  expect(parts.looks() - before).toBe(2 * 100)
})

test('without anything to wake it a worker looks by its poll', async () => {
  const parts = wakeup()
  await asleep(parts)
  const before = parts.looks()

  await vi.advanceTimersByTimeAsync(HOUR)

  expect(parts.looks()).toBeGreaterThan(before)
})

test('a poll says first that the worker sleeps on, so that one look is enough', async () => {
  const parts = wakeup()
  await asleep(parts)
  const before = parts.looks()

  await vi.advanceTimersByTimeAsync(HOUR - 2000)

  expect(parts.said.length).toBe(2)
  expect(parts.looks() - before).toBe(1)
})

test('a worker that cannot be told polls every second', async () => {
  const parts = wakeup({ listen: false })
  await asleep(parts)
  const before = parts.looks()

  await vi.advanceTimersByTimeAsync(10_000)

  expect(parts.looks() - before).toBeGreaterThanOrEqual(10)
  expect(Math.max(...parts.said)).toBe(2000)
})

test('a lost connection is listened on anew, with a look at what was missed, after days of quiet too', async () => {
  const parts = wakeup()
  await asleep(parts)
  // Each check leaves nothing behind that the loss would have to walk through.
  await vi.advanceTimersByTimeAsync(3 * 24 * HOUR)
  const before = parts.looks()

  parts.listeners[0]?.lost(new Error('terminated'))
  await vi.advanceTimersByTimeAsync(1000)

  expect(parts.listeners.map(({ isClosed }) => isClosed)).toEqual([true, false])
  expect(parts.looks()).toBeGreaterThan(before)
})

test('a connection that no longer hears its channel is replaced at the next check', async () => {
  const parts = wakeup()
  await asleep(parts)
  parts.answers.isHeard = false

  await vi.advanceTimersByTimeAsync(10_000)
  parts.answers.isHeard = true
  await vi.advanceTimersByTimeAsync(1000)

  expect(parts.listeners.map(({ isClosed }) => isClosed)).toEqual([true, false])
})

test('stop wakes every sleeper, closes the connection and leaves no timer', async () => {
  const parts = wakeup()
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  const sleeping = Promise.all([parts.nap(), parts.nap()])

  await parts.subject.stop()

  await sleeping
  await parts.nap()
  expect(parts.listeners.map(({ isClosed }) => isClosed)).toEqual([true])
  expect(vi.getTimerCount()).toBe(0)
})
