import { expect, test } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { PrefetchBuffer } from './prefetch-buffer.js'

const jobs = (...ids: number[]) => ids.map((id) => ({ id: String(id) }) as ClaimedJob)
const idOf = ({ id }: ClaimedJob) => Number(id)

test('jobs leave in the order in which they came, also when more come in between', () => {
  const stock = new PrefetchBuffer()
  stock.add(jobs(1, 2, 3))
  expect(idOf(stock.take())).toBe(1)
  stock.add(jobs(4))

  expect(stock.size).toBe(3)
  expect([stock.take(), stock.take(), stock.take()].map(idOf)).toEqual([2, 3, 4])
  expect(stock.size).toBe(0)
})

test('all that is left can be taken at once, and then there is nothing', () => {
  const stock = new PrefetchBuffer()
  stock.add(jobs(1, 2, 3))
  stock.take()

  expect(stock.takeAll().map(idOf)).toEqual([2, 3])
  expect(stock.size).toBe(0)
  expect(stock.takeAll()).toEqual([])
  stock.add(jobs(4))
  expect(idOf(stock.take())).toBe(4)
})

test('the array that jobs were given in stays the giver’s', () => {
  const stock = new PrefetchBuffer()
  const given = jobs(1, 2)
  stock.add(given)
  stock.take()

  expect(given.map(idOf)).toEqual([1, 2])
})
