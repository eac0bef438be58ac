// Finds jobs by type and input; when none fits, the error shows the actual ones.

import { AssertionError } from 'node:assert'
import type { Job, JobState } from '../domain/job/job.js'

/** The exact number; at least one where it is absent. */
export interface Times {
  readonly times?: number
}

/**
 * True when `value` has what `pattern` names: objects may have more, lists must have the same length. A function in a pattern
 * decides for its place.
 */
export function fits(value: unknown, pattern: unknown): boolean {
  if (pattern === undefined) return true
  if (typeof pattern === 'function') return Boolean(pattern(value))
  if (typeof pattern !== 'object' || pattern === null) return Object.is(value, pattern)
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(pattern)) return false
  if (Array.isArray(pattern) && pattern.length !== (value as unknown[]).length) return false
  return Object.entries(pattern).every(([name, part]) => fits((value as Record<string, unknown>)[name], part))
}

/** Returns the fitting jobs, or throws an AssertionError that shows the actual ones. */
export function expectJobs(
  candidates: readonly Job[],
  fitting: readonly Job[],
  asked: {
    readonly what: string
    readonly match: unknown
    readonly times: number | undefined
    readonly at: (...values: never[]) => unknown
  },
): readonly Job[] {
  const { what, match, times, at } = asked
  if (times === undefined ? fitting.length > 0 : fitting.length === times) return fitting
  const wanted = times === undefined ? 'at least one' : String(times)
  const input = match === undefined ? '' : ` with an input that fits ${shown(match)}`
  const there = candidates.length === 0 ? 'there is none of its type' : `of its type there are:\n${listed(candidates)}`
  throw new AssertionError({
    message: `expected ${wanted} ${what}${input}, found ${fitting.length}; ${there}`,
    actual: fitting.length,
    expected: times ?? 1,
    operator: 'expectJobs',
    stackStartFn: at,
  })
}

const MOST_LISTED = 20

function listed(jobs: readonly Job[]): string {
  const lines = jobs.slice(0, MOST_LISTED).map(({ id, state, input, error }) => {
    const reason = error ? ` (${error.message})` : ''
    return `  ${id} ${state satisfies JobState}${reason} ${shown(input)}`
  })
  return [...lines, ...(jobs.length > MOST_LISTED ? [`  and ${jobs.length - MOST_LISTED} more`] : [])].join('\n')
}

function shown(value: unknown): string {
  return (JSON.stringify(value, (_, part) => (typeof part === 'function' ? 'a function' : part)) ?? 'undefined').slice(
    0,
    200,
  )
}
