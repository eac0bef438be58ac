import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { QUEUE_START } from '../../store/jobs/claim.js'
import { QueueFetcher } from './queue-fetcher.js'
import { job, positionOf, queueFetcher, settle } from './queue-fetcher.test-support.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('claims as many as there are free slots, and no more while all are busy', async () => {
  const { subject, asks, nextAsk, runs, end } = queueFetcher(3)
  subject.start()

  const first = nextAsk()
  expect(first.n).toBe(3)
  await first.answer([job(1), job(2), job(3)])
  expect([...runs.keys()]).toEqual(['1', '2', '3'])
  expect(asks).toEqual([])

  vi.advanceTimersByTime(1000)
  await end('2')
  expect(asks.map(({ n }) => n)).toEqual([1])
})

test('a claim that brings less than was asked for is followed by sleep, then by a sweep', async () => {
  const { subject, nextAsk, naps, asks } = queueFetcher(3)
  subject.start()
  await nextAsk().answer([job(1)])

  expect(naps).toHaveLength(1)
  expect(asks).toEqual([])
  await naps[0]?.()

  expect(nextAsk()).toMatchObject({ n: 2, from: QUEUE_START })
})

test('a claim that met enough jobs of a held key is followed by another and not by sleep', async () => {
  const { subject, nextAsk, naps, runs } = queueFetcher(2)
  subject.start()

  await nextAsk().answer([], true)
  await nextAsk().answer([job(1)], true)

  expect(naps).toEqual([])
  expect([...runs.keys()]).toEqual(['1'])
  await nextAsk().answer([])
  await nextAsk().answer([])
  expect(naps).toHaveLength(1)
})

test('a full claim is followed by one behind the position that it gave', async () => {
  const { subject, nextAsk, end } = queueFetcher(3)
  subject.start()
  const first = nextAsk()
  expect(first.from).toBe(QUEUE_START)

  await first.answer([job(1), job(2), job(3)])
  await end('1')

  expect(nextAsk().from).toEqual(positionOf('3'))
})

test('a poll behind the cursor that finds too little is followed by a sweep at once', async () => {
  const { subject, nextAsk, end, runs } = queueFetcher(2)
  subject.start()
  await nextAsk().answer([job(1), job(2)])
  await end('1')
  await end('2')
  const behind = nextAsk()
  expect(behind.from.jobId).toBe('2')

  await behind.answer([])

  const swept = nextAsk()
  expect(swept).toMatchObject({ n: behind.n, from: QUEUE_START })
  await swept.answer([job(3)])
  expect([...runs.keys()]).toEqual(['3'])
})

test.each([
  { when: 'at least every 250 ms, however full the queue is', tookMs: 0, earlyMs: 100, laterMs: 200 },
  {
    when: 'so seldom that it takes a twentieth of the time, where it takes long',
    tookMs: 50,
    earlyMs: 990,
    laterMs: 20,
  },
])('a sweep comes $when', async ({ tookMs, earlyMs, laterMs }) => {
  const { subject, nextAsk, end } = queueFetcher(1)
  subject.start()
  const first = nextAsk()
  vi.advanceTimersByTime(tookMs)
  await first.answer([job(1)])
  vi.advanceTimersByTime(earlyMs)
  await end('1')
  const early = nextAsk()
  expect(early.from.jobId).toBe('1')
  await early.answer([job(2)])

  vi.advanceTimersByTime(laterMs)
  await end('2')

  expect(nextAsk().from).toBe(QUEUE_START)
})

test('a claim that fails is reported and tried again after a while', async () => {
  const { subject, nextAsk, faults, asks, runs } = queueFetcher(1)
  subject.start()
  const error = new Error('no connection')

  await nextAsk().fail(error)
  expect(faults).toEqual([['claiming from bulk', error]])
  expect(asks).toEqual([])
  await vi.advanceTimersByTimeAsync(500)
  await nextAsk().answer([job(1)])

  expect([...runs.keys()]).toEqual(['1'])
})

test('the jobs of the first of two claims run before the second is answered, and also if that one fails', async () => {
  const { subject, nextAsk, end, runs, faults } = queueFetcher(3)
  subject.start()
  await nextAsk().answer([job(1), job(2), job(3)])
  await end('1')
  await end('2')
  await nextAsk().answer([job(4)])

  const fromStart = nextAsk()
  expect(fromStart.from).toBe(QUEUE_START)
  expect([...runs.keys()]).toEqual(['3', '4'])
  await fromStart.fail(new Error('no database'))

  expect(faults).toHaveLength(1)
  expect([...runs.keys()]).toEqual(['3', '4'])
})

test('stop claims no more, lets runs go on and returns the waiting jobs', async () => {
  const { subject, nextAsk, end, runs, asks } = queueFetcher(1)
  subject.start()
  await nextAsk().answer([job(1)])
  vi.advanceTimersByTime(10)
  await end('1')
  await nextAsk().answer([job(2), job(3), job(4)])

  const waiting = await subject.stop()

  expect(waiting.map(({ id }) => id)).toEqual(['3', '4'])
  await end('2')
  expect([...runs.keys()]).toEqual([])
  expect(asks).toEqual([])
})

test('jobs that are claimed while the fetcher stops are returned unstarted', async () => {
  const { subject, nextAsk, runs } = queueFetcher(2)
  subject.start()
  const stopping = subject.stop()

  await nextAsk().answer([job(1), job(2)])

  expect((await stopping).map(({ id }) => id)).toEqual(['1', '2'])
  expect(runs.size).toBe(0)
})

test('a sleeping fetcher stops as soon as it is woken, without another claim', async () => {
  const { subject, nextAsk, naps, asks } = queueFetcher(1)
  subject.start()
  await nextAsk().answer([])
  const stopping = subject.stop()

  await naps[0]?.()

  expect(await stopping).toEqual([])
  expect(asks).toEqual([])
})

test('a busy process uses fewer slots and prefetches nothing, but uses at least one', async () => {
  const half = queueFetcher(4, { share: 0.5 })
  half.subject.start()
  const ask = half.nextAsk()
  expect(ask.n).toBe(2)
  await ask.answer([job(1), job(2)])
  await half.end('1')
  expect(half.nextAsk().n).toBe(1)

  const none = queueFetcher(4, { share: 0 })
  none.subject.start()
  expect(none.nextAsk().n).toBe(1)
})

test('a paused fetcher starts nothing and returns its waiting jobs, until it is resumed', async () => {
  const { subject, nextAsk, end, runs, asks } = queueFetcher(1)
  subject.start()
  await nextAsk().answer([job(1)])
  vi.advanceTimersByTime(10)
  await end('1')
  await nextAsk().answer([job(2), job(3), job(4)])

  expect((await subject.pause()).map(({ id }) => id)).toEqual(['3', '4'])
  await end('2')
  expect(runs.size).toBe(0)
  expect(asks.length).toBe(0)

  vi.advanceTimersByTime(1000)
  await settle(() => subject.resume())
  await nextAsk().answer([job(5)])
  expect([...runs.keys()]).toEqual(['5'])
})

test('only a sleeping fetcher reserves slots, and no more than are free', async () => {
  const { subject, nextAsk, naps, runs } = queueFetcher(2)
  subject.start()
  expect(subject.reserve(1)).toBe(false)
  await nextAsk().answer([])

  expect(subject.reserve(3)).toBe(false)
  expect(subject.reserve(1)).toBe(true)
  expect(subject.reserve(1)).toBe(true)
  expect(subject.reserve(1)).toBe(false)
  subject.unreserve(2)
  subject.take(job(1))

  expect([...runs.keys()]).toEqual(['1'])
  expect(subject.reserve(2)).toBe(false)
  await naps[0]?.()
  expect(subject.reserve(1)).toBe(false)
})

test('a claim leaves reserved slots free, and fills them when the reservation ends', async () => {
  const { subject, nextAsk, naps } = queueFetcher(3)
  subject.start()
  await nextAsk().answer([])
  subject.reserve(2)
  await naps[0]?.()
  const claim = nextAsk()
  expect(claim.n).toBe(1)
  await claim.answer([job(1)])

  await settle(() => subject.unreserve(2))

  expect(nextAsk().n).toBe(2)
})

/** Its jobs end at once, each after `ms` of the thread's time; claims are sent, as over a pool, with the next tick. */
function fetcherOfShortJobs(pending: number, ms: number) {
  const seen = { started: 0, startedBeforeClaim: [] as number[] }
  let left = pending
  const subject = new QueueFetcher('bulk', 4, {
    claimer: {
      async claim(slots, n, from) {
        await new Promise<void>((resolve) => process.nextTick(resolve))
        seen.startedBeforeClaim.push(seen.started)
        const jobs = Array.from({ length: Math.min(n, left) }, (_each, i) => job(left - i))
        left -= jobs.length
        slots.add(jobs)
        return { count: jobs.length, cursor: from, hasMore: false }
      },
    },
    jobs: {
      release: () => {},
      start: (_job, startedAt, slot) => {
        seen.started += 1
        vi.advanceTimersByTime(ms)
        queueMicrotask(() => slot.freed(startedAt, performance.now()))
      },
    },
    wakeUp: { sleep: () => new Promise(() => {}) },
    load: { share: 1 },
    onFault: (_, error) => {
      throw error
    },
  })
  return { subject, seen }
}

test('short jobs let the event loop turn before all waiting jobs have run', async () => {
  const { subject, seen } = fetcherOfShortJobs(100, 1)
  subject.start()

  const startedBeforeTurn: number[] = []
  while (seen.started < 100) {
    await new Promise((resolve) => setImmediate(resolve))
    startedBeforeTurn.push(seen.started)
  }

  expect(startedBeforeTurn.filter((started) => started > 10 && started < 90).length).toBeGreaterThan(10)
})

test('the next claim is sent before all waiting jobs have run', async () => {
  const { subject, seen } = fetcherOfShortJobs(1000, 1)
  subject.start()
  while (seen.started < 1000) await new Promise((resolve) => setImmediate(resolve))

  const [first, second, third] = seen.startedBeforeClaim
  expect([first, second]).toEqual([0, 1])
  expect(third).toBeLessThan(60) // when half of the room for 104 is free: four to run and 25 ms of work for each slot
})

test('a claim is sent before the waiting jobs have run, also if they take no time', async () => {
  const { subject, seen } = fetcherOfShortJobs(5000, 0)
  subject.start()
  while (seen.started < 5000) await new Promise((resolve) => setImmediate(resolve))

  const [, second, third] = seen.startedBeforeClaim as [number, number, number]
  expect(third - second).toBeLessThan(1002 + 10) // half of the room for 2,004: four to run and 25 ms of work for each slot
})

test('a fetcher that stops between two turns starts nothing in the next and returns the rest', async () => {
  const { subject, seen } = fetcherOfShortJobs(1000, 1)
  subject.start()
  while (seen.started < 10) await new Promise((resolve) => setImmediate(resolve))

  const waiting = await subject.stop()

  expect(waiting.length).toBeGreaterThan(0)
  const { started } = seen
  await new Promise((resolve) => setImmediate(resolve))
  expect(seen.started).toBe(started)
})
