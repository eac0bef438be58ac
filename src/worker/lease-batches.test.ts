import { expect, test } from 'vitest'
import { dropMessages, holdMessages } from './keeper-messages.js'
import { LeaseBatches } from './lease-batches.js'

const lease = (id: string, leaseId = 'a', leaseMs = 5000) => ({ id, token: `1${id}`, leaseId, leaseMs })

function batchesWith(...leases: ReturnType<typeof lease>[]) {
  const batches = new LeaseBatches()
  for (const message of holdMessages(leases, 100)) batches.hold(message)
  return {
    batches,
    drop: (...gone: ReturnType<typeof lease>[]) => dropMessages(gone).flatMap((message) => batches.drop(message)),
  }
}

test('what is not dropped comes out with its claim, as it went in', () => {
  const { batches, drop } = batchesWith(lease('1'), lease('2'), lease('3', 'a', 1000))
  expect(drop(lease('2'))).toEqual([])

  expect(batches.takeOlder(100)).toEqual([{ leases: [lease('1'), lease('3', 'a', 1000)], claimedAt: 100 }])
  expect(batches.takeOlder(100)).toEqual([])
})

test('a claim that is younger stays', () => {
  const { batches } = batchesWith(lease('1'))

  expect(batches.takeOlder(99)).toEqual([])
  expect(batches.takeOlder(100)).toHaveLength(1)
})

test('a claim whose jobs are all dropped is forgotten', () => {
  const { batches, drop } = batchesWith(lease('1'), lease('2'))
  drop(lease('1'))
  drop(lease('2'))

  expect(batches.takeOlder(1000)).toEqual([])
})

test('a lease that was taken out before is given back to be dropped elsewhere', () => {
  const { batches, drop } = batchesWith(lease('1'), lease('2', 'b'))
  batches.takeOlder(100)

  expect(drop(lease('1'), lease('2', 'b'))).toEqual([
    { id: '1', leaseId: 'a' },
    { id: '2', leaseId: 'b' },
  ])
})
