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

/** A wake-up whose answers the test chooses: when the next job falls due, and whether notifications arrive. */
function wakeup({ listen = true, pollMs = HOUR } = {}) {
  const answers = { dueMs: null as number | null, isListening: true }
  const recorded: number[] = []
  const listeners: { notify(): void; lost(error: Error): void; isClosed: boolean }[] = []
  const database = {
    async prepared(_: string, [, , sleepMs]: [string, string[], number]) {
      recorded.push(sleepMs)
      return { rows: [{ due_ms: answers.dueMs }] }
    },
    async listen(_: string, notify: () => void, lost: (error: Error) => void): Promise<Listening> {
      const listener = { notify, lost, isClosed: false }
      listeners.push(listener)
      return {
        check: async () => answers.isListening,
        async close() {
          listener.isClosed = true
        },
      }
    },
  }
  const store = { schema: 'holdfast', open: async () => database } as unknown as Store
  const asleep = vi.fn()
  const options = { worker: 'w', queues: ['q'], pollMs, listen, onAsleep: asleep, onFault: () => {} }
  const subject = new WakeUp(store, options)
  const nap = subject.sleep.bind(subject)
  let polls = 0
  /** A queue fetcher that polls, finds nothing, and sleeps again. */
  const pollAndSleep = async () => {
    for (;;) {
      polls += 1
      await nap()
    }
  }
  return { subject, nap, answers, recorded, listeners, pollAndSleep, polls: () => polls, asleep }
}

/** The wake-up listens, has recorded that its worker sleeps, and has let it poll again for what came meanwhile. */
async function untilAsleep(parts: ReturnType<typeof wakeup>) {
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  void parts.pollAndSleep()
  await vi.advanceTimersByTimeAsync(1000)
}

test('a worker that begins to sleep records it and polls again at once, after 20 and after 200 ms', async () => {
  const parts = wakeup()
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  void parts.pollAndSleep()
  const polled: number[] = []
  for (const ms of [0, 19, 1, 179, 1, 10_000]) {
    await vi.advanceTimersByTimeAsync(ms)
    polled.push(parts.polls())
  }

  expect(polled).toEqual([2, 2, 3, 3, 4, 4])
  expect(parts.recorded).toEqual([2 * HOUR])
})

test('a worker that is woken and sleeps again polls once more: a job may have fallen due in between', async () => {
  const parts = wakeup()
  await untilAsleep(parts)
  const before = parts.polls()

  parts.subject.wake()
  await vi.advanceTimersByTimeAsync(1000)

  // Once because it was woken, once more after it has recorded its sleep.
  expect(parts.polls() - before).toBe(2)
})

test('NOTIFY wakes a sleeping worker', async () => {
  const parts = wakeup()
  await untilAsleep(parts)
  const before = parts.polls()

  parts.listeners[0]?.notify()
  await vi.advanceTimersByTimeAsync(0)

  expect(parts.polls()).toBeGreaterThan(before)
})

test('a sleeping worker wakes when the next job falls due', async () => {
  const parts = wakeup()
  parts.answers.dueMs = 500
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  void parts.pollAndSleep()
  await vi.advanceTimersByTimeAsync(499)
  const before = parts.polls()
  parts.answers.dueMs = null

  await vi.advanceTimersByTimeAsync(1)

  expect(parts.polls()).toBeGreaterThan(before)
})

test('where a job falls due every millisecond, a sleeping worker polls every 10 ms', async () => {
  const parts = wakeup()
  parts.answers.dueMs = 1
  await untilAsleep(parts)
  const before = parts.polls()

  await vi.advanceTimersByTimeAsync(1000)

  // Each alarm causes two polls: the second after the worker has recorded its sleep.
  expect(parts.polls() - before).toBe(2 * 100)
})

test('without a wake-up a worker polls at its interval', async () => {
  const parts = wakeup()
  await untilAsleep(parts)
  const before = parts.polls()

  await vi.advanceTimersByTimeAsync(HOUR)

  expect(parts.polls()).toBeGreaterThan(before)
})

test('before a poll the sleep is recorded again, so that one poll is enough', async () => {
  const parts = wakeup()
  await untilAsleep(parts)
  const before = parts.polls()

  await vi.advanceTimersByTimeAsync(HOUR - 2000)

  expect(parts.recorded.length).toBe(2)
  expect(parts.polls() - before).toBe(1)
})

test('a worker without LISTEN polls every second', async () => {
  const parts = wakeup({ listen: false })
  await untilAsleep(parts)
  const before = parts.polls()

  await vi.advanceTimersByTimeAsync(10_000)

  expect(parts.polls() - before).toBeGreaterThanOrEqual(10)
  expect(Math.max(...parts.recorded)).toBe(2000)
})

test('a lost connection is replaced, with a poll for what was missed, after days of quiet too', async () => {
  const parts = wakeup()
  await untilAsleep(parts)
  // Each check leaves nothing behind that makes the loss expensive.
  await vi.advanceTimersByTimeAsync(3 * 24 * HOUR)
  const before = parts.polls()

  parts.listeners[0]?.lost(new Error('terminated'))
  await vi.advanceTimersByTimeAsync(1000)

  expect(parts.listeners.map(({ isClosed }) => isClosed)).toEqual([true, false])
  expect(parts.polls()).toBeGreaterThan(before)
})

test('a connection that no longer receives notifications is replaced at the next check', async () => {
  const parts = wakeup()
  await untilAsleep(parts)
  parts.answers.isListening = false

  await vi.advanceTimersByTimeAsync(10_000)
  parts.answers.isListening = true
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

test('a worker reports that it is asleep when no further poll is due, and again after each poll', async () => {
  const parts = wakeup()
  parts.subject.start()
  await vi.advanceTimersByTimeAsync(0)
  void parts.pollAndSleep()
  await vi.advanceTimersByTimeAsync(199)
  expect(parts.asleep).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(parts.asleep).toHaveBeenCalledOnce()

  parts.subject.wake()
  await vi.advanceTimersByTimeAsync(0)

  expect(parts.asleep).toHaveBeenCalledTimes(2)
})
