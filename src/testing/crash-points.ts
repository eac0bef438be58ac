// Counts the operations of a run, and simulates the death of the process after a chosen one.

import type { LeasedCalls } from '../worker/leased-calls.js'

/** The operations of a run, in order, and the one after which it crashes. */
export class CrashPoints {
  readonly done: string[] = []
  /** Rejects when the crash comes. */
  readonly crash: Promise<never>
  readonly #after: number
  #reject: (error: Error) => void = () => {}
  #isDead = false

  /** Crashes after this many operations; never with Infinity. */
  constructor(after: number) {
    this.#after = after
    this.crash = new Promise((_, reject) => {
      this.#reject = reject
    })
    this.crash.catch(() => {})
    if (after === 0) this.#die()
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Runs the operation and counts it. After the crash no operation runs, and no promise resolves. */
  async operation<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#isDead) return never()
    try {
      const result = await work()
      if (this.#isDead) return never()
      this.done.push(name)
      if (this.done.length === this.#after) {
        this.#die()
        return never()
      }
      return result
    } catch (error) {
      if (this.#isDead) return never()
      throw error
    }
  }

  #die(): void {
    this.#isDead = true
    this.#reject(new Error('the process has crashed, as the test asked'))
  }
}

/** Every operation is counted when it is done; a transaction's statements too, and its commit is the operation of the transaction. */
export function countedOperations(operations: LeasedCalls, points: CrashPoints): LeasedCalls {
  const counted = Object.entries(operations).map(([name, operation]) => [
    name,
    (...values: unknown[]) =>
      points.operation(name === 'tx' ? 'commit' : `ctx.${name}`, () =>
        (operation as AnyOperation).call(operations, ...values),
      ),
  ])
  const named = Object.fromEntries(counted) as LeasedCalls
  return {
    ...named,
    // The connection dies with the process: an open transaction is rolled back.
    tx: (job, work) => named.tx(job, (tx) => Promise.race([work(countedStatements(tx, points)), points.crash])),
    complete: (job, tx, ...more) => named.complete(job, originals.get(tx as object) ?? tx, ...more),
  }
}

type AnyOperation = (...values: unknown[]) => Promise<unknown>

/** The transaction behind each counted one. */
const originals = new WeakMap<object, unknown>()

function countedStatements(tx: unknown, points: CrashPoints): unknown {
  const client = tx as { query?: AnyOperation }
  if (typeof client.query !== 'function') return tx
  const counted = new Proxy(client as { query: AnyOperation }, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'query') return value.bind(target)
      return (...values: unknown[]) => points.operation(statementName(values[0]), () => target.query(...values))
    },
  })
  originals.set(counted, tx)
  return counted
}

const SHOWN_CHARACTERS = 60

function statementName(statement: unknown): string {
  const text = typeof statement === 'string' ? statement : String((statement as { text?: unknown } | null)?.text)
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line
}

function never(): Promise<never> {
  return new Promise(() => {})
}
