import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ClaimBoard, ClaimBoardReader } from './claim-board.js'
import { dropMessages, type HoldMessage, holdMessages } from './keeper-messages.js'
import type { TimedLease } from './lease-keeper.js'

const claimOf = (ids: string[], leaseMs = 30_000, leaseId = randomUUID()): TimedLease[] =>
  ids.map((id) => ({ id, token: `1${id}`, leaseId, leaseMs }))
const heldAt = (leases: TimedLease[], claimedAt: number) => holdMessages(leases, claimedAt)[0] as HoldMessage

function boardWithReader() {
  const board = new ClaimBoard()
  const drop = (leases: TimedLease[]) => dropMessages(leases).map((message) => board.drop(message))
  return { board, drop, reader: new ClaimBoardReader(board.memory) }
}

test('a claim is read as it was told, once', () => {
  const { board, reader } = boardWithReader()
  const claim = claimOf(['1', '9223372036854775807'])
  expect(board.hold(heldAt(claim, 100.25))).toBe(true)

  expect(reader.look(101)).toEqual([{ leases: claim, claimedAt: 100.25 }])
  expect(reader.look(101)).toEqual([])
})

test('a young claim is left for a later look, which reads what has not been dropped by then', () => {
  const { board, drop, reader } = boardWithReader()
  const claim = claimOf(['1', '2', '3'])
  board.hold(heldAt(claim, 100))
  expect(reader.look(99)).toEqual([])
  expect(drop(claim.slice(0, 1))).toEqual([true])
  expect(drop(claim.slice(2))).toEqual([true])

  expect(reader.look(100)).toEqual([{ leases: claim.slice(1, 2), claimedAt: 100 }])
})

test('a claim of which nothing is left is never read, and its seat is free', () => {
  const { board, drop, reader } = boardWithReader()
  for (let n = 0; n < 100; n += 1) {
    const claim = claimOf(['1', '2'])
    expect(board.hold(heldAt(claim, 100))).toBe(true)
    drop(claim)
  }

  expect(reader.look(100)).toEqual([])
})

test('what is dropped of a claim that was read must be told by a message, and of the next in its seat not', () => {
  const { board, drop, reader } = boardWithReader()
  const [first, second] = [claimOf(['1', '2']), claimOf(['3', '4'])]
  board.hold(heldAt(first, 100))
  reader.look(100)
  expect(drop(first.slice(0, 1))).toEqual([false])
  expect(drop(first.slice(1))).toEqual([false])
  board.hold(heldAt(second, 200))

  expect(drop(second.slice(0, 1))).toEqual([true])
  expect(reader.look(200)).toEqual([{ leases: second.slice(1), claimedAt: 200 }])
})

test('what is dropped just before the claim is marked as read is not lost', () => {
  const { board, drop, reader } = boardWithReader()
  const claim = claimOf(['1', '2'])
  board.hold(heldAt(claim, 100))
  const really = Atomics.store
  let told: boolean[] | undefined
  Atomics.store = ((words: Int32Array, word: number, value: number) => {
    if (!told) {
      told = []
      told = drop(claim.slice(0, 1))
    }
    return really(words, word, value)
  }) as typeof Atomics.store
  try {
    expect(reader.look(100)).toEqual([{ leases: claim.slice(1), claimedAt: 100 }])
  } finally {
    Atomics.store = really
  }
  expect(told).toEqual([true])
})

test('a seat that changes hands while it is read is left for the next look', () => {
  const { board, drop, reader } = boardWithReader()
  const [first, second] = [claimOf(['1', '2']), claimOf(['3', '4'])]
  board.hold(heldAt(first, 100))
  const really = Atomics.load
  let hasChanged = false
  Atomics.load = ((words: Int32Array, word: number) => {
    const value = really(words, word)
    if (value === 1 && !hasChanged) {
      hasChanged = true
      drop(first)
      board.hold(heldAt(second, 100))
    }
    return value
  }) as typeof Atomics.load
  try {
    expect(reader.look(100)).toEqual([])
  } finally {
    Atomics.load = really
  }
  expect(hasChanged).toBe(true)
  expect(reader.look(100)).toEqual([{ leases: second, claimedAt: 100 }])
})

test('a claim that cannot wait for a look has no seat, nor has one too large or one too many', () => {
  const { board, drop, reader } = boardWithReader()
  expect(board.hold(heldAt(claimOf(['1', '2'], 3999), 100))).toBe(false)
  expect(board.hold(heldAt(claimOf(Array.from({ length: 2000 }, (_, n) => String(2 ** 40 + n))), 100))).toBe(false)
  const seated = Array.from({ length: 32 }, (_, n) => claimOf([`${n}1`, `${n}2`]))
  expect(seated.map((each) => board.hold(heldAt(each, 100)))).not.toContain(false)
  const late = claimOf(['8', '9'])
  expect(board.hold(heldAt(late, 100))).toBe(false)
  expect(drop(late)).toEqual([false])

  drop(seated[7] as TimedLease[])
  expect(board.hold(heldAt(late, 100))).toBe(true)
  expect(reader.look(100)).toHaveLength(32)
})
