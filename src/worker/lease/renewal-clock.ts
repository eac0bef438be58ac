// By what a worker's thread and the one that stands in for it see each other, in memory that both share: a thread that is
// blocked can be looked at, but not asked.

// Times are in microseconds of monotonicMs().
const [STATE, KEPT_AT, RENEWED_AT, SHORTEST_MS, WORDS] = [0, 1, 2, 3, 4]
// Of the one who stands in.
const [WATCHING, WORKING, DISMISSED] = [0n, 1n, 2n]

// A keeper that has not got through for so long is late: a look every second that twice came to nothing.
const LATE_MS = 3000
// With short leases earlier: the last look may have found a lease that needed no renewal yet, a tick before three tenths of it.
const LATE_SHARE = 0.375
const LOOKS_UNTIL_LATE = 4
/** Who stands in boots in a tenth of a second, on a machine with little time to spare in many. No lease may run out meanwhile. */
export const BOOTED_MS = 10_000

export class RenewalClock {
  readonly memory: SharedArrayBuffer
  readonly #words: BigInt64Array

  /** Of another thread's memory, or of its own. */
  constructor(memory = new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#words = new BigInt64Array(memory)
  }

  /** The keeper has recorded and renewed all that was due, by what it sent then. */
  kept(sentAt: number): void {
    this.#write(KEPT_AT, sentAt * 1000)
  }

  /** The shortest lease that was ever held. */
  holds(leaseMs: number): void {
    this.#write(SHORTEST_MS, leaseMs)
  }

  /** All leases of the worker were renewed by whoever stands in, by what that sent then. */
  watchdogRenewed(sentAt: number): void {
    this.#write(RENEWED_AT, sentAt * 1000)
  }

  /** 0 when nobody has had to stand in. */
  get renewedAt(): number {
    return this.#read(RENEWED_AT) / 1000
  }

  isLate(now: number): boolean {
    return now - this.#read(KEPT_AT) / 1000 > this.#lateMs
  }

  /** A lease is held that is too short to boot for when it is needed. */
  get isShort(): boolean {
    return this.#shortestMs < BOOTED_MS
  }

  get isDismissed(): boolean {
    return Atomics.load(this.#words, STATE) === DISMISSED
  }

  /** true when nobody has ever gone to work: whoever watches only looks whether it is dismissed. */
  dismiss(): boolean {
    const before = Atomics.exchange(this.#words, STATE, DISMISSED)
    Atomics.notify(this.#words, STATE)
    return before === WATCHING
  }

  /** false when it was dismissed. */
  goToWork(): boolean {
    return Atomics.compareExchange(this.#words, STATE, WATCHING, WORKING) !== DISMISSED
  }

  /** How long to wait between two looks. */
  get lookMs(): number {
    return this.#lateMs / LOOKS_UNTIL_LATE
  }

  /** Blocks the thread for so long, or until it is dismissed. */
  rest(ms: number): void {
    const state = Atomics.load(this.#words, STATE)
    if (state !== DISMISSED) Atomics.wait(this.#words, STATE, state, ms)
  }

  get #lateMs(): number {
    return Math.min(LATE_MS, this.#shortestMs * LATE_SHARE)
  }

  get #shortestMs(): number {
    return this.#read(SHORTEST_MS) || Number.POSITIVE_INFINITY
  }

  #read(word: number): number {
    return Number(Atomics.load(this.#words, word))
  }

  #write(word: number, value: number): void {
    Atomics.store(this.#words, word, BigInt(Math.round(value)))
  }
}
