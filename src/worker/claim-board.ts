// Leases of whole claims, in memory that a worker shares with its keeper. A message would wake the keeper's thread at every
// claim and at every settlement; of most claims nothing is left when it looks at its leases anyway.

import { type DropMessage, type HoldMessage, heldLeases, SHORT_LEASE_MS } from './keeper-messages.js'
import type { HeldClaim } from './lease-batches.js'

const SEATS = 32
// A seat has these words and two texts. Its turn is odd while a claim sits there and grows with each coming and going; READ is
// the turn that the keeper has read.
const [TURN, READ, HELD, DROPPED, WORDS] = [0, 1, 2, 3, 4]
const TEXT_BYTES = 32_000
const SEAT_BYTES = WORDS * Int32Array.BYTES_PER_ELEMENT + 2 * TEXT_BYTES

/** What both sides know of the memory. */
class Seats {
  readonly #words: Int32Array
  readonly #bytes: Buffer

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory)
    this.#bytes = Buffer.from(memory)
  }

  get(seat: number, word: number): number {
    return Atomics.load(this.#words, this.#place(seat) + word)
  }

  set(seat: number, word: number, value: number): void {
    Atomics.store(this.#words, this.#place(seat) + word, value)
  }

  /** Appends to the text whose length is in `word`, which tells of it. */
  write(seat: number, word: number, text: string): void {
    const length = this.get(seat, word)
    this.set(seat, word, length + this.#bytes.write(text, this.#textAt(seat, word) + length, 'latin1'))
  }

  read(seat: number, word: number): string {
    const from = this.#textAt(seat, word)
    return this.#bytes.toString('latin1', from, from + this.get(seat, word))
  }

  #place(seat: number): number {
    return (seat * SEAT_BYTES) / Int32Array.BYTES_PER_ELEMENT
  }

  #textAt(seat: number, word: number): number {
    return (seat + 1) * SEAT_BYTES - (word === HELD ? 2 : 1) * TEXT_BYTES
  }
}

/** The worker's side: it alone writes, but for READ. */
export class ClaimBoard {
  readonly memory = new SharedArrayBuffer(SEATS * SEAT_BYTES)
  readonly #seats = new Seats(this.memory)
  readonly #free = Array.from({ length: SEATS }, (_, seat) => seat)
  readonly #claims = new Map<string, { readonly seat: number; left: number }>()

  /** false when it must be told by a message: there is no room, or a lease cannot wait for the keeper's next look. */
  hold({ leaseId, claimedAt, count, shortestMs, leases }: HoldMessage): boolean {
    const text = `${claimedAt} ${leaseId} ${leases}`
    if (shortestMs < SHORT_LEASE_MS || text.length > TEXT_BYTES) return false
    const seat = this.#free.pop()
    if (seat === undefined) return false
    this.#claims.set(leaseId, { seat, left: count })
    this.#seats.set(seat, HELD, 0)
    this.#seats.set(seat, DROPPED, 0)
    this.#seats.write(seat, HELD, text)
    this.#turn(seat)
    return true
  }

  /** false when it must be told by a message: the claim has no seat here, or the keeper has read it. */
  drop({ leaseId, count, ids }: DropMessage): boolean {
    const claim = this.#claims.get(leaseId)
    if (!claim) return false
    const { seat } = claim
    // Written before it is asked whether the keeper has read: it marks that before it reads. So one of both sees the other.
    this.#seats.write(seat, DROPPED, `${ids},`)
    const isRead = this.#seats.get(seat, READ) === this.#seats.get(seat, TURN)
    claim.left -= count
    if (claim.left <= 0) {
      this.#turn(seat)
      this.#claims.delete(leaseId)
      this.#free.push(seat)
    }
    return !isRead
  }

  #turn(seat: number): void {
    this.#seats.set(seat, TURN, this.#seats.get(seat, TURN) + 1)
  }
}

/** The keeper's side. */
export class ClaimBoardReader {
  readonly #seats: Seats

  constructor(memory: SharedArrayBuffer) {
    this.#seats = new Seats(memory)
  }

  /** What was claimed at or before `claimedBefore` and not read yet, without what was dropped of it. */
  look(claimedBefore: number): HeldClaim[] {
    const claims: HeldClaim[] = []
    for (let seat = 0; seat < SEATS; seat += 1) {
      const turn = this.#seats.get(seat, TURN)
      if (turn % 2 === 0 || this.#seats.get(seat, READ) === turn) continue
      const [claimedAt, leaseId, leases] = splitInThree(this.#seats.read(seat, HELD))
      if (Number(claimedAt) > claimedBefore) continue
      this.#seats.set(seat, READ, turn)
      const gone = new Set(this.#seats.read(seat, DROPPED).split(','))
      // Another claim sits there by now: this one is over.
      if (this.#seats.get(seat, TURN) !== turn) continue
      const left = heldLeases({ leaseId, leases }).filter(({ id }) => !gone.has(id))
      claims.push({ leases: left, claimedAt: Number(claimedAt) })
    }
    return claims
  }
}

function splitInThree(text: string): [string, string, string] {
  const first = text.indexOf(' ')
  const second = text.indexOf(' ', first + 1)
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)]
}
