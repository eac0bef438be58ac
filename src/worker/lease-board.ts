// Leases that were claimed alone, in memory that a worker shares with its keeper. A message would wake the keeper's thread,
// which takes longer than to run a short job; the board it reads when it looks at its leases anyway.

import type { Lease } from '../store/settle.js'
import { SHORT_LEASE_MS } from './keeper-messages.js'
import type { HeldClaim } from './lease-batches.js'
import type { TimedLease } from './lease-keeper.js'

const SEATS = 256
// A seat is so many words. Its turn is odd while a lease sits there and grows with each coming and going.
const [TURN, ID, TOKEN, LEASE_ID, LEASE_ID_END, LEASE_MS, CLAIMED_AT, WORDS] = [0, 1, 2, 3, 4, 5, 6, 7]

/** The worker's side: it alone writes. */
export class LeaseBoard {
  readonly memory = new SharedArrayBuffer(SEATS * WORDS * BigInt64Array.BYTES_PER_ELEMENT)
  readonly #words = new BigInt64Array(this.memory)
  readonly #free = Array.from({ length: SEATS }, (_, seat) => seat * WORDS)
  readonly #seats = new Map<string, number>()

  /** false when it must be told by a message: no seat is free, or the lease cannot wait for the keeper's next look. */
  hold({ id, token, leaseId, leaseMs }: TimedLease, claimedAt: number): boolean {
    if (leaseMs < SHORT_LEASE_MS) return false
    const seat = this.#free.pop()
    if (seat === undefined) return false
    this.#seats.set(leaseId, seat)
    const digits = leaseId.replaceAll('-', '')
    this.#write(seat + ID, BigInt(id))
    this.#write(seat + TOKEN, BigInt(token))
    this.#write(seat + LEASE_ID, BigInt(`0x${digits.slice(0, 16)}`))
    this.#write(seat + LEASE_ID_END, BigInt(`0x${digits.slice(16)}`))
    this.#write(seat + LEASE_MS, BigInt(leaseMs))
    this.#write(seat + CLAIMED_AT, BigInt(Math.round(claimedAt * 1000)))
    Atomics.add(this.#words, seat + TURN, 1n)
    return true
  }

  /** false when it has no seat here. */
  drop({ leaseId }: Pick<Lease, 'leaseId'>): boolean {
    const seat = this.#seats.get(leaseId)
    if (seat === undefined) return false
    Atomics.add(this.#words, seat + TURN, 1n)
    this.#seats.delete(leaseId)
    this.#free.push(seat)
    return true
  }

  #write(word: number, value: bigint): void {
    Atomics.store(this.#words, word, value)
  }
}

/** The keeper's side. */
export class LeaseBoardReader {
  readonly #words: BigInt64Array
  readonly #seen = new Map<number, { turn: bigint; lease: TimedLease }>()

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory)
  }

  /** What came and what went since the last look. What was claimed after `claimedBefore` is left for a later one. */
  look(claimedBefore: number): { come: HeldClaim[]; gone: TimedLease[] } {
    const come: HeldClaim[] = []
    const gone: TimedLease[] = []
    for (let seat = 0; seat < this.#words.length; seat += WORDS) {
      const turn = this.#read(seat + TURN)
      const seen = this.#seen.get(seat)
      if (seen?.turn === turn) continue
      if (seen) {
        gone.push(seen.lease)
        this.#seen.delete(seat)
      }
      if (turn % 2n === 0n) continue
      const claimedAt = Number(this.#read(seat + CLAIMED_AT)) / 1000
      const lease = this.#leaseAt(seat)
      // Another has taken the seat meanwhile: it is young.
      if (claimedAt > claimedBefore || this.#read(seat + TURN) !== turn) continue
      this.#seen.set(seat, { turn, lease })
      come.push({ leases: [lease], claimedAt })
    }
    return { come, gone }
  }

  #leaseAt(seat: number): TimedLease {
    const digits = [LEASE_ID, LEASE_ID_END]
      .map((word) =>
        BigInt.asUintN(64, this.#read(seat + word))
          .toString(16)
          .padStart(16, '0'),
      )
      .join('')
    return {
      id: String(this.#read(seat + ID)),
      token: String(this.#read(seat + TOKEN)),
      leaseId: digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      leaseMs: Number(this.#read(seat + LEASE_MS)),
    }
  }

  #read(word: number): bigint {
    return Atomics.load(this.#words, word)
  }
}
