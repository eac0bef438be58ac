import { expect, test } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { PrefetchBuffer } from './prefetch-buffer.js'

const jobs = (...ids: number[]) => ids.map((id) => ({ id: String(id) }) as ClaimedJob)
const idOf = ({ id }: ClaimedJob) => Number(id)

test('jobs leave in the order in which they came, also when more come in between', () => {
  const buffer = new PrefetchBuffer()
  buffer.add(jobs(1, 2, 3))
  expect(idOf(buffer.take())).toBe(1)
  buffer.add(jobs(4))

  expect(buffer.size).toBe(3)
  expect([buffer.take(), buffer.take(), buffer.take()].map(idOf)).toEqual([2, 3, 4])
  expect(buffer.size).toBe(0)
})

test('all that is left can be taken at once, and then there is nothing', () => {
  const buffer = new PrefetchBuffer()
  buffer.add(jobs(1, 2, 3))
  buffer.take()

  expect(buffer.takeAll().map(idOf)).toEqual([2, 3])
  expect(buffer.size).toBe(0)
  expect(buffer.takeAll()).toEqual([])
  buffer.add(jobs(4))
  expect(idOf(buffer.take())).toBe(4)
})

test('the array that was added is not changed', () => {
  const buffer = new PrefetchBuffer()
  const given = jobs(1, 2)
  buffer.add(given)
  buffer.take()

  expect(given.map(idOf)).toEqual([1, 2])
})
