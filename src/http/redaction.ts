// Takes values out of inputs and outputs by path before they leave the program.

import { checkRedactedPaths, type RedactedPath } from '../domain/job/redacted-path.js'

export const REDACTED = '[redacted]'

type Steps = readonly string[]

export class Redaction {
  readonly #ofAll: readonly Steps[]
  readonly #byType: ReadonlyMap<string, readonly Steps[]>

  /** Paths by type of job, those under `*` for every type; several lists add up. */
  constructor(...lists: readonly Readonly<Record<string, readonly RedactedPath[]>>[]) {
    const byType = new Map<string, Steps[]>()
    for (const [type, paths] of lists.flatMap((list) => Object.entries(list))) {
      const steps = checkRedactedPaths(`redact of ${type}`, paths).map((path) => path.split('.'))
      byType.set(type, [...(byType.get(type) ?? []), ...steps])
    }
    this.#byType = byType
    this.#ofAll = byType.get('*') ?? []
  }

  /** The value with every path of the type replaced, of all types where it is not known. */
  apply(type: string | undefined, value: unknown): unknown {
    return this.#pathsOf(type).reduce((redacted, steps) => replaced(redacted, steps), value)
  }

  /** True when the value at this path contains a redacted value, is one, or is part of one. */
  touches(type: string | undefined, path: readonly string[]): boolean {
    return this.#pathsOf(type).some((steps) => steps.every((step, i) => path[i] === undefined || fits(step, path[i])))
  }

  #pathsOf(type: string | undefined): readonly Steps[] {
    if (type === undefined) return [...this.#byType.values()].flat()
    const own = this.#byType.get(type)
    return own && type !== '*' ? [...this.#ofAll, ...own] : this.#ofAll
  }
}

function fits(step: string, name: string): boolean {
  return step === '*' || step === name
}

function replaced(value: unknown, [step, ...rest]: Steps): unknown {
  if (step === undefined) return REDACTED
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, i) => (fits(step, String(i)) ? replaced(item, rest) : item))
  const entries = Object.entries(value).map(([name, item]) => [name, fits(step, name) ? replaced(item, rest) : item])
  return Object.fromEntries(entries)
}
