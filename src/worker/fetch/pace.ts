// How long a queue's runs take of late.

// Over this time they are averaged, at first over less: code that has never run takes longer. A pause of the whole process, for a
// garbage collection or because the machine is crowded, lengthens every run of its moment: it must not look as if the jobs had
// become longer.
const AVERAGED_MS = { first: 5, most: 100 }

export class Pace {
  #runMs: number | undefined
  #isFirst = true
  #sum = 0
  #count = 0
  #since = 0
  #averagedMs = AVERAGED_MS.first

  /** undefined while nothing is known. */
  get runMs(): number | undefined {
    return this.#runMs
  }

  /** A run that ended `now` took so long. */
  learn(ms: number, now: number): void {
    if (this.#count === 0) this.#since = now - ms
    this.#sum += ms
    this.#count += 1
    const isOver = now - this.#since >= this.#averagedMs
    if (isOver || this.#isFirst) this.#runMs = this.#sum / this.#count
    if (isOver) this.#begin(Math.min(2 * this.#averagedMs, AVERAGED_MS.most))
  }

  /** What runs has not ended for so long: whatever was learnt before no longer holds. */
  atLeast(ms: number): void {
    this.#runMs = Math.max(ms, this.#runMs ?? 0)
    this.#begin(this.#averagedMs)
  }

  #begin(averagedMs: number): void {
    this.#isFirst = false
    this.#averagedMs = averagedMs
    this.#sum = 0
    this.#count = 0
  }
}
