import { expect, test } from 'vitest'
import type { ClaimedJob } from '../domain/job.js'
import { HeldJobs } from './held-jobs.js'

const job = (id: string, leaseId: string, token = '1') => ({ id, leaseId, token }) as ClaimedJob

test('a job is held from its claim to its end, and found by its lease', () => {
  const [one, two, other] = [job('1', 'a'), job('2', 'a'), job('3', 'b')]
  const held = new HeldJobs()
  for (const each of [one, two, other]) held.add(each)
  expect(held.all).toEqual([one, two, other])
  expect(held.of({ id: '2', leaseId: 'a' })).toBe(two)
  expect(held.of({ id: '2', leaseId: 'b' })).toBeUndefined()

  held.remove(one)

  expect([one, two, other].map((each) => held.has(each))).toEqual([false, true, true])
})

test('a job that is claimed again is held under its new lease only, and the earlier claim of it is told', () => {
  const [before, after] = [job('1', 'a'), job('1', 'b', '2')]
  const held = new HeldJobs()
  expect(held.add(before)).toBeUndefined()

  expect(held.add(after)).toBe(before)

  expect(held.has(before)).toBe(false)
  expect(held.all).toEqual([after])
  held.remove(before)
  expect(held.has(after)).toBe(true)
})

test('what has ended leaves nothing behind', () => {
  const held = new HeldJobs()
  for (let n = 0; n < 100; n += 1) held.add(job(String(n), 'a'))
  for (let n = 0; n < 100; n += 1) held.remove({ id: String(n), leaseId: 'a' })
  held.remove({ id: '1', leaseId: 'a' })
  expect(held.all).toEqual([])
})
