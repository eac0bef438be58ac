import { expect, test } from 'vitest'
import { PrefetchPolicy } from './prefetch-policy.js'

test('there is no average before the first run; then it is that of all runs so far', () => {
  const policy = new PrefetchPolicy(4)
  expect(policy.runMs).toBeUndefined()
  policy.runTook(4, 1000)
  expect(policy.runMs).toBe(4)
  policy.runTook(2, 1001)
  expect(policy.runMs).toBe(3)
})

test('a pause that lengthens the runs of its moment changes the average by no more than its share', () => {
  const policy = new PrefetchPolicy(4)
  let now = 0
  for (let run = 0; run < 1000; run += 1) {
    now += 0.1
    policy.runTook(0.1, now)
  }
  expect(policy.runMs).toBeCloseTo(0.1)

  now += 20
  for (let run = 0; run < 24; run += 1) policy.runTook(20, now)

  expect(policy.runMs).toBeLessThan(0.2)
  for (let run = 0; run < 1000; run += 1) {
    now += 0.1
    policy.runTook(0.1, now)
  }
  expect(policy.runMs).toBeLessThan(1)
})

test('a run that is itself long changes the average at once', () => {
  const policy = new PrefetchPolicy(4)
  for (let now = 1; now <= 300; now += 1) policy.runTook(1, now)
  policy.runTook(5000, 5300)
  expect(policy.runMs).toBeGreaterThan(50)
  policy.runTook(5000, 10_300)
  expect(policy.runMs).toBe(5000)
})

test('runs that do not end count for as long as they have taken, until runs end again', () => {
  const policy = new PrefetchPolicy(4)
  for (let now = 1; now <= 300; now += 1) policy.runTook(1, now)

  policy.runsTakeAtLeast(1000)
  expect(policy.runMs).toBe(1000)
  policy.runTook(1, 2000)
  expect(policy.runMs).toBe(1000)
  for (let now = 2001; now <= 2100; now += 1) policy.runTook(1, now)
  expect(policy.runMs).toBe(1)
})
