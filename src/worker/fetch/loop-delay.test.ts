import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LoopDelay } from './loop-delay.js'

const SAMPLE_MS = 20
const LOOK_MS = 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A loop that a test keeps busy: every timer comes so much later than it should. */
function startedLoop() {
  let [now, worked, measurements] = [0, 0, 0]
  const delay = new LoopDelay({ now: () => now, workedMs: () => worked })
  delay.start(() => {
    measurements += 1
  })
  return {
    delay,
    measurements: () => measurements,
    /** A second of it; `lateMs` for each moment at which a sample may be taken. */
    async second(lateMs: (moment: number) => number) {
      for (let moment = 0; moment < LOOK_MS / SAMPLE_MS; moment += 1) {
        now += SAMPLE_MS + lateMs(moment)
        worked += lateMs(moment)
        await vi.advanceTimersByTimeAsync(SAMPLE_MS)
      }
    },
  }
}

const calm = () => 0

test('the percentile is that of the delays, of the last measurement or of more', async () => {
  const loop = startedLoop()
  await loop.second(() => 150)
  await loop.second((moment) => (moment < 10 ? 80 : 0))

  expect(loop.delay.percentile(90, 1)).toBe(80)
  expect(loop.delay.percentile(50, 1)).toBe(0)
  expect(loop.delay.percentile(90, 10)).toBe(150)
})

test('no more than the last ten measurements are kept', async () => {
  const loop = startedLoop()
  await loop.second(() => 150)
  for (let second = 0; second < 9; second += 1) await loop.second(calm)
  expect(loop.delay.percentile(99, 10)).toBe(150)

  await loop.second(calm)

  expect(loop.delay.percentile(99, 10)).toBe(0)
})

test('a loop that rests is no longer sampled, and still measured', async () => {
  const loop = startedLoop()
  expect(vi.getTimerCount()).toBe(2)

  for (let second = 0; second < 3; second += 1) await loop.second(calm)

  expect(vi.getTimerCount()).toBe(1)
  await loop.second(calm)
  expect(loop.measurements()).toBe(4)
  expect(loop.delay.percentile(99, 1)).toBe(0)
})

test('a loop that gets busy again is sampled again', async () => {
  const loop = startedLoop()
  for (let second = 0; second < 3; second += 1) await loop.second(calm)

  await loop.second(() => 150)
  await loop.second(() => 150)

  expect(loop.delay.percentile(90, 1)).toBe(150)
})

test('the seconds that were not sampled count as seconds without delay', async () => {
  const loop = startedLoop()
  for (let second = 0; second < 9; second += 1) await loop.second(calm)
  await loop.second((moment) => (moment < 2 ? 150 : 0))
  expect(vi.getTimerCount()).toBe(2)

  await loop.second((moment) => (moment < 2 ? 150 : 0))

  expect(loop.delay.percentile(99, 1)).toBe(150)
  expect(loop.delay.percentile(99, 10)).toBe(0)
})

test('a loop that is stopped keeps no timer', async () => {
  const loop = startedLoop()

  loop.delay.stop()

  expect(vi.getTimerCount()).toBe(0)
})
