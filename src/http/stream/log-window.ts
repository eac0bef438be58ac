// The latest log lines of a watched job, so that many readers of it cost one question to the database.

export interface SentLine {
  readonly id: string
  /** As JSON. */
  readonly text: string
}

// About what one reader's buffer takes; who is further behind asks the database itself.
const MOST_CHARACTERS = 262_144

export class LogWindow {
  #lines: SentLine[] = []
  #characters = 0
  #from: bigint
  #to: bigint

  /** Holds what comes after the line `from`. */
  constructor(from: string) {
    this.#from = BigInt(from)
    this.#to = this.#from
  }

  get to(): string {
    return String(this.#to)
  }

  add(lines: readonly SentLine[]): void {
    for (const line of lines) {
      this.#lines.push(line)
      this.#characters += line.text.length
      this.#to = BigInt(line.id)
    }
    while (this.#characters > MOST_CHARACTERS) {
      const dropped = this.#lines.shift() as SentLine
      this.#characters -= dropped.text.length
      this.#from = BigInt(dropped.id)
    }
  }

  /** The lines after `log`; undefined when some of them are no longer, or never were, in the window. */
  after(log: string): readonly SentLine[] | undefined {
    const seen = BigInt(log)
    if (seen < this.#from) return undefined
    const first = this.#lines.findIndex(({ id }) => BigInt(id) > seen)
    return first === -1 ? [] : this.#lines.slice(first)
  }
}
