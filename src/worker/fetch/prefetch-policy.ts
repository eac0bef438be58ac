// How many jobs one claim asks for, and how many claimed jobs may wait for a slot: both follow from measured times.

/** Prefetched jobs are released when none of them has started for this long: longer runs than before occupy the slots. */
export const STALE_MS = 1000
const LARGEST_CLAIM = 2000
const LARGEST_BUFFER = 4000
// A claim that takes longer than this asks for fewer jobs, but never for fewer than there are slots.
const LONGEST_CLAIM_MS = 500
// How much work may wait, in time: twice as long as a claim takes, since the next claim is sent when half of it is used up.
// The upper bound leaves jobs to other workers.
const BUFFERED_MS = { least: 25, most: 200 }
// Durations of runs are averaged over this time. The first average covers less: code that has never run is slower. A pause of the
// whole process lengthens all runs of its moment, so a short average would take it for longer jobs.
const AVERAGED_MS = { first: 5, most: 100 }
const SHORTEST_RUN_MS = 0.05

export class PrefetchPolicy {
  readonly #slots: number
  #runMs: number | undefined
  #isFirst = true
  #sum = 0
  #count = 0
  #since = 0
  #averagedMs = AVERAGED_MS.first
  #latestClaim = { ms: 0, jobs: 1 }

  constructor(slots: number) {
    this.#slots = slots
  }

  /** The average duration of recent runs; undefined before the first. */
  get runMs(): number | undefined {
    return this.#runMs
  }

  /** How many jobs one claim may ask for. */
  get largestClaim(): number {
    const { ms, jobs } = this.#latestClaim
    return Math.max(this.#slots, Math.min(LARGEST_CLAIM, Math.floor((LONGEST_CLAIM_MS * jobs) / ms)))
  }

  /** How many claimed jobs may wait for a slot. */
  get bufferSize(): number {
    if (this.#runMs === undefined) return 0
    const bufferedMs = Math.min(Math.max(BUFFERED_MS.least, 2 * this.#latestClaim.ms), BUFFERED_MS.most)
    return Math.min(LARGEST_BUFFER, Math.floor((this.#slots * bufferedMs) / Math.max(this.#runMs, SHORTEST_RUN_MS)))
  }

  claimTook(ms: number, jobs: number): void {
    if (jobs > 0) this.#latestClaim = { ms, jobs }
  }

  /** A run that ended at `now` took `ms`. */
  runTook(ms: number, now: number): void {
    if (this.#count === 0) this.#since = now - ms
    this.#sum += ms
    this.#count += 1
    const isOver = now - this.#since >= this.#averagedMs
    if (isOver || this.#isFirst) this.#runMs = this.#sum / this.#count
    if (isOver) this.#startAverage(Math.min(2 * this.#averagedMs, AVERAGED_MS.most))
  }

  /** The current runs have not ended for `ms`: the average so far no longer holds. */
  runsTakeAtLeast(ms: number): void {
    this.#runMs = Math.max(ms, this.#runMs ?? 0)
    this.#startAverage(this.#averagedMs)
  }

  #startAverage(averagedMs: number): void {
    this.#isFirst = false
    this.#averagedMs = averagedMs
    this.#sum = 0
    this.#count = 0
  }
}
