// How long a queue's runs take of late.

// Over this time they are averaged. A pause of the whole process, for a garbage collection or because the machine is crowded,
// lengthens every run of its moment: it must not look as if the jobs had become longer.
const AVERAGED_MS = 100

export class Pace {
  #latest: number | undefined
  #sum = 0
  #count = 0
  #since = 0

  /** undefined while nothing is known. */
  get runMs(): number | undefined {
    return this.#latest ?? (this.#count > 0 ? this.#sum / this.#count : undefined)
  }

  /** A run that ended `now` took so long. */
  learn(ms: number, now: number): void {
    if (this.#count === 0) this.#since = now - ms
    this.#sum += ms
    this.#count += 1
    if (now - this.#since < AVERAGED_MS) return
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
