// How long a queue's runs take of late.

// Over this time they are averaged, at first over less: code that has never run takes longer. A pause of the whole process, for a
// garbage collection or because the machine is crowded, lengthens every run of its moment: it must not look as if the jobs had
// become longer.
const AVERAGED_MS = { first: 5, most: 100 }

export class Pace {
  #latest: number | undefined
  #sum = 0
  #count = 0
  #since = 0
  #averagedMs = AVERAGED_MS.first

  /** undefined while nothing is known. */
  get runMs(): number | undefined {
    return this.#latest ?? (this.#count > 0 ? this.#sum / this.#count : undefined)
  }

  /** A run that ended `now` took so long. */
  learn(ms: number, now: number): void {
    if (this.#count === 0) this.#since = now - ms
    this.#sum += ms
    this.#count += 1
    if (now - this.#since < this.#averagedMs) return
    this.#averagedMs = Math.min(2 * this.#averagedMs, AVERAGED_MS.most)
    this.#latest = this.#sum / this.#count
    this.#sum = 0
    this.#count = 0
  }

  /** What runs has not ended for so long: whatever was learnt before no longer holds. */
  atLeast(ms: number): void {
    this.#latest = Math.max(ms, this.runMs ?? 0)
    this.#sum = 0
    this.#count = 0
  }
}
