// The times at which a worker's thread and its watchdog thread renewed leases, in memory that both share: a thread can read them
// while the other is blocked.

// Times are in microseconds of monotonicMs().
const [RENEWER_AT, WATCHDOG_AT, SHORTEST_LEASE_MS, IS_STOPPED, WORDS] = [0, 1, 2, 3, 4]

// A renewer without success for this long is late: it tries every second, so it has failed at least twice.
const LATE_MS = 3000
// Earlier with short leases: the latest try may have come just before a lease was due for renewal, at three tenths of its length.
const LATE_SHARE = 0.375
const CHECKS_UNTIL_LATE = 4
/** The watchdog thread boots in about 100 ms, on a crowded machine much slower. No lease may end in that time. */
export const BOOT_MS = 10_000

export class RenewalClock {
  readonly memory: SharedArrayBuffer
  readonly #words: BigInt64Array

  /** Of another thread's memory, or of its own. */
  constructor(memory = new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#words = new BigInt64Array(memory)
  }

  /** The renewer has sent its heartbeat and renewed all that was due, in calls sent at `sentAt`. */
  renewerSucceeded(sentAt: number): void {
    this.#write(RENEWER_AT, sentAt * 1000)
  }

  /** The watchdog has renewed all leases of the worker, in a call sent at `sentAt`. */
  watchdogRenewed(sentAt: number): void {
    this.#write(WATCHDOG_AT, sentAt * 1000)
  }

  /** The shortest lease that was ever held. */
  setShortestLease(leaseMs: number): void {
    this.#write(SHORTEST_LEASE_MS, leaseMs)
  }

  /** 0 when the watchdog has never renewed. */
  get watchdogRenewedAt(): number {
    return this.#read(WATCHDOG_AT) / 1000
  }

  isRenewerLate(now: number): boolean {
    return now - this.#read(RENEWER_AT) / 1000 > this.#lateMs
  }

  /** A lease is held that would end while the watchdog boots. */
  get hasShortLease(): boolean {
    return this.#shortestLeaseMs < BOOT_MS
  }

  /** How long the watchdog waits between two checks. */
  get checkMs(): number {
    return this.#lateMs / CHECKS_UNTIL_LATE
  }

  /** Blocks the calling thread for at most `ms`, and not after stop(). */
  block(ms: number): void {
    Atomics.wait(this.#words, IS_STOPPED, 0n, ms)
  }

  /** The worker stops: its watchdog thread ends. */
  stop(): void {
    this.#write(IS_STOPPED, 1)
    Atomics.notify(this.#words, IS_STOPPED)
  }

  get isStopped(): boolean {
    return this.#read(IS_STOPPED) === 1
  }

  get #lateMs(): number {
    return Math.min(LATE_MS, this.#shortestLeaseMs * LATE_SHARE)
  }

  get #shortestLeaseMs(): number {
    return this.#read(SHORTEST_LEASE_MS) || Number.POSITIVE_INFINITY
  }

  #read(word: number): number {
    return Number(Atomics.load(this.#words, word))
  }

  #write(word: number, value: number): void {
    Atomics.store(this.#words, word, BigInt(Math.round(value)))
  }
}
