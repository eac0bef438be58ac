// Settings that come from the environment, checked like any other.

import { invalidOption } from '../error/invalid-option.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** The variable as a positive number; `fallback` when it is absent or empty. */
export function positiveNumber(environment: Environment, name: string, fallback: number): number {
  const text = environment[name]
  if (text === undefined || text === '') return fallback
  if (!/^\d+(\.\d+)?$/.test(text) || Number(text) <= 0) throw invalidOption(name, 'a positive number', text)
  return Number(text)
}
