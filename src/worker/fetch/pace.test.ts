import { expect, test } from 'vitest'
import { Pace } from './pace.js'

test('nothing is known before the first run; then the average of all so far', () => {
  const pace = new Pace()
  expect(pace.runMs).toBeUndefined()
  pace.learn(4, 1000)
  expect(pace.runMs).toBe(4)
  pace.learn(2, 1001)
  expect(pace.runMs).toBe(3)
})

test('a pause that lengthens the runs of its moment counts no more than its share', () => {
  const pace = new Pace()
  let now = 0
  for (let run = 0; run < 1000; run += 1) {
    now += 0.1
    pace.learn(0.1, now)
  }
  expect(pace.runMs).toBeCloseTo(0.1)

  now += 20
  for (let run = 0; run < 24; run += 1) pace.learn(20, now)

  expect(pace.runMs).toBeLessThan(0.2)
  for (let run = 0; run < 1000; run += 1) {
    now += 0.1
    pace.learn(0.1, now)
  }
  expect(pace.runMs).toBeLessThan(1)
})

test('a run that is itself long is learnt from at once', () => {
  const pace = new Pace()
  for (let now = 1; now <= 300; now += 1) pace.learn(1, now)
  pace.learn(5000, 5300)
  expect(pace.runMs).toBeGreaterThan(50)
  pace.learn(5000, 10_300)
  expect(pace.runMs).toBe(5000)
})

test('what does not end counts for as long as it has run, until runs end again', () => {
  const pace = new Pace()
  for (let now = 1; now <= 300; now += 1) pace.learn(1, now)

  pace.atLeast(1000)
  expect(pace.runMs).toBe(1000)
  pace.learn(1, 2000)
  expect(pace.runMs).toBe(1000)
  for (let now = 2001; now <= 2100; now += 1) pace.learn(1, now)
  expect(pace.runMs).toBe(1)
})
