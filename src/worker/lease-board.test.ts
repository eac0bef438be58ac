import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { LeaseBoard, LeaseBoardReader } from './lease-board.js'

const lease = (id: string, leaseMs = 30_000) => ({ id, token: `1${id}`, leaseId: randomUUID(), leaseMs })

function boardWithReader() {
  const board = new LeaseBoard()
  return { board, reader: new LeaseBoardReader(board.memory) }
}

test('a lease is read as it was told, once', () => {
  const { board, reader } = boardWithReader()
  const leaseId = 'fedcba98-0000-4000-8000-00000000000f'
  const one = { id: '9223372036854775807', token: '12', leaseId, leaseMs: 30_000 }
  expect(board.hold(one, 100.25)).toBe(true)

  expect(reader.look(101)).toEqual({ come: [{ leases: [one], claimedAt: 100.25 }], gone: [] })
  expect(reader.look(101)).toEqual({ come: [], gone: [] })
})

test('a young claim is left for a later look, and one that is dropped before is never read', () => {
  const { board, reader } = boardWithReader()
  const [short, long] = [lease('1'), lease('2')]
  board.hold(short, 100)
  board.hold(long, 100)
  expect(reader.look(99)).toEqual({ come: [], gone: [] })
  board.drop(short)

  expect(reader.look(100)).toEqual({ come: [{ leases: [long], claimedAt: 100 }], gone: [] })
})

test('what was read and is dropped is told as gone, also when another has its seat by then', () => {
  const { board, reader } = boardWithReader()
  const [first, second] = [lease('1'), lease('2')]
  board.hold(first, 100)
  reader.look(100)
  board.drop(first)
  board.hold(second, 200)

  expect(reader.look(100)).toEqual({ come: [], gone: [first] })
  expect(reader.look(200)).toEqual({ come: [{ leases: [second], claimedAt: 200 }], gone: [] })
  board.drop(second)
  expect(reader.look(200)).toEqual({ come: [], gone: [second] })
})

test('a seat that changes hands while it is read is left for the next look', () => {
  const { board, reader } = boardWithReader()
  const [first, second] = [lease('1'), lease('2')]
  board.hold(first, 100)
  const really = Atomics.load
  let hasChanged = false
  Atomics.load = ((words: BigInt64Array, word: number) => {
    const value = really(words, word)
    if (value !== 0n && !hasChanged) {
      hasChanged = board.drop(first) && board.hold(second, 100)
    }
    return value
  }) as typeof Atomics.load
  try {
    expect(reader.look(100)).toEqual({ come: [], gone: [] })
  } finally {
    Atomics.load = really
  }
  expect(hasChanged).toBe(true)
  expect(reader.look(100).come).toEqual([{ leases: [second], claimedAt: 100 }])
})

test('a lease that cannot wait for a look has no seat, nor has one too many', () => {
  const { board, reader } = boardWithReader()
  expect(board.hold(lease('1', 3999), 100)).toBe(false)
  const seated = Array.from({ length: 256 }, (_, n) => lease(String(n)))
  expect(seated.map((each) => board.hold(each, 100))).not.toContain(false)
  const late = lease('256')
  expect(board.hold(late, 100)).toBe(false)
  expect(board.drop(late)).toBe(false)

  board.drop(seated[7] as (typeof seated)[0])
  expect(board.hold(late, 100)).toBe(true)
  expect(reader.look(100).come).toHaveLength(256)
})
