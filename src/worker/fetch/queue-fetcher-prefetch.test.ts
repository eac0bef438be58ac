import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { job, queueFetcher, settle } from './queue-fetcher.test-support.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('after short runs jobs are prefetched, which start before the next claim is answered', async () => {
  const { subject, nextAsk, end, runs } = queueFetcher(1)
  subject.start()
  await nextAsk().answer([job(1)])
  vi.advanceTimersByTime(5)
  await end('1')

  const ask = nextAsk()
  expect(ask.n).toBe(6) // one to run and 25 ms of work at 5 ms each
  await ask.answer([2, 3, 4, 5, 6, 7].map((n) => job(n)))
  expect([...runs.keys()]).toEqual(['2'])
  await end('2')

  expect([...runs.keys()]).toEqual(['3'])
})

test.each([
  { claimMs: 60, n: 7 }, // one to run and twice 60 ms of work at 200 ms in ten slots
  { claimMs: 400, n: 11 }, // one to run and no more than 200 ms of work
])(
  'where a claim takes $claimMs ms, prefetched jobs last until the next one, within bounds',
  async ({ claimMs, n }) => {
    const { subject, nextAsk, end } = queueFetcher(10)
    subject.start()
    const first = nextAsk()
    vi.advanceTimersByTime(claimMs)
    await first.answer(Array.from({ length: 10 }, (_, i) => job(i)))
    vi.advanceTimersByTime(200)
    await end('1')
    await end('2')

    expect(nextAsk().n).toBe(n)
  },
)

test('after long runs nothing is prefetched', async () => {
  const { subject, nextAsk, end } = queueFetcher(1)
  subject.start()
  await nextAsk().answer([job(1)])
  vi.advanceTimersByTime(5000)
  await end('1')

  expect(nextAsk().n).toBe(1)
})

test.each([
  { asks: '2,000 at most, however short the runs are', claimMs: 0, n: 2000 },
  { asks: 'what comes within half a second, where jobs come slowly', claimMs: 300, n: 1500 },
  { asks: 'as many as there are slots, however slowly they come', claimMs: 9000, n: 900 },
])('a claim asks for $asks', async ({ claimMs, n }) => {
  const { subject, nextAsk, end } = queueFetcher(900)
  subject.start()
  const first = nextAsk()
  vi.advanceTimersByTime(claimMs)
  await first.answer(Array.from({ length: 900 }, (_, i) => job(i)))
  for (let i = 0; i < 900; i += 1) await end(String(i))

  expect(nextAsk().n).toBe(n)
})

/** Its one slot has a job of ten milliseconds behind it and runs another; two more wait. */
async function fetcherWithWaitingJobs() {
  const given = queueFetcher(1)
  given.subject.start()
  await given.nextAsk().answer([job(1)])
  vi.advanceTimersByTime(10)
  await given.end('1')
  await given.nextAsk().answer([job(2), job(3), job(4)])
  expect([...given.runs.keys()]).toEqual(['2'])
  return given
}

test('waiting jobs of which none starts for a second are released, and none are prefetched until runs are short again', async () => {
  const { subject, released, nextAsk, end, asks } = await fetcherWithWaitingJobs()

  await vi.advanceTimersByTimeAsync(999)
  expect(released).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(released).toEqual(['3', '4'])

  await vi.advanceTimersByTimeAsync(5000)
  await settle(() => subject.onMoreRoom())
  expect(asks).toEqual([])
  await end('2')
  for (let n = 5; n < 25; n += 1) {
    const ask = nextAsk()
    expect(ask.n).toBe(1)
    await ask.answer([job(n)])
    vi.advanceTimersByTime(1)
    await end(String(n))
  }
  expect(nextAsk().n).toBe(26) // one to run and 25 ms of work at 1 ms each
})

test('waiting jobs that start one after another are not released, however long they wait', async () => {
  const { released, end, runs } = await fetcherWithWaitingJobs()

  await vi.advanceTimersByTimeAsync(900)
  await end('2')
  expect([...runs.keys()]).toEqual(['3'])
  await vi.advanceTimersByTimeAsync(900)
  expect(released).toEqual([])

  await vi.advanceTimersByTimeAsync(1100)
  expect(released).toEqual(['4'])
})

test('a fetcher that has stopped returns its waiting jobs once', async () => {
  const { subject, released } = await fetcherWithWaitingJobs()

  expect((await subject.stop()).map(({ id }) => id)).toEqual(['3', '4'])
  await vi.advanceTimersByTimeAsync(5000)
  expect(released).toEqual([])
})
