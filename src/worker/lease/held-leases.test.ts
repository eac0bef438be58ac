import { expect, test } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { HeldLeases } from './held-leases.js'

const job = (id: string, leaseId: string, token = '1', leaseMs = 30_000) =>
  ({ id, leaseId, token, leaseMs }) as ClaimedJob
const all = (held: HeldLeases) => held.claims.flatMap(({ jobs }) => [...jobs.values()])

test('a job is held from add() to remove(), with the others of its claim', () => {
  const [one, two, other] = [job('1', 'a'), job('2', 'a'), job('3', 'b')]
  const held = new HeldLeases()
  for (const each of [one, two]) held.add([each], 100)
  held.add([other], 200)
  expect(held.claims.map(({ jobs, renewedAt }) => [[...jobs.values()], renewedAt])).toEqual([
    [[one, two], 100],
    [[other], 200],
  ])

  expect(held.remove(one)).toBe(true)

  expect([one, two, other].map((each) => held.has(each))).toEqual([false, true, true])
  expect(held.remove(one)).toBe(false)
})

test('a job that is claimed again is held under its new lease only, and add() returns it as it was held before', () => {
  const [before, after] = [job('1', 'a'), job('1', 'b', '2')]
  const held = new HeldLeases()
  expect(held.add([before], 1)).toEqual([])

  expect(held.add([after], 2)).toEqual([before])

  expect(held.has(before)).toBe(false)
  expect(all(held)).toEqual([after])
  expect(held.remove(before)).toBe(false)
  expect(held.has(after)).toBe(true)
})

test('of removed jobs only the shortest lease is remembered', () => {
  const held = new HeldLeases()
  expect(held.shortestLeaseMs).toBe(Number.POSITIVE_INFINITY)
  for (let n = 0; n < 100; n += 1) held.add([job(String(n), 'a', '1', 5000 + n)], 1)
  for (let n = 0; n < 100; n += 1) held.remove({ id: String(n), leaseId: 'a' })

  expect(held.claims).toEqual([])
  expect(held.shortestLeaseMs).toBe(5000)
})

test('a claim without jobs is held again when another of its jobs comes', () => {
  const [one, two] = [job('1', 'a'), job('2', 'a')]
  const held = new HeldLeases()
  held.add([one], 1)
  held.remove(one)

  held.add([two], 2)

  expect(held.has(two)).toBe(true)
  expect(all(held)).toEqual([two])
})
