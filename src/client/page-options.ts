// What the reads of an operator have in common: a page, and which jobs are meant.

import { invalidOption } from '../domain/error/invalid-option.js'
import { parseFilter } from '../domain/job/filter-language.js'
import { checkJobFilter, type JobFilter } from '../domain/job/job-filter.js'

export interface PageOptions {
  /** The `next` of the page before. */
  readonly after?: string
  /** 1 to 200, by default 50. */
  readonly limit?: number
}

export function limitOf({ limit = 50 }: PageOptions, most = 200): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > most) throw invalidOption('limit', `from 1 to ${most}`, limit)
  return limit
}

/** Where a list goes on that is in order of numbers; undefined at its beginning. */
export function numberAfter({ after }: PageOptions): string | undefined {
  return after === undefined ? undefined : checkNumber(after, 'after')
}

export function checkNumber(text: string, what: string): string {
  if (typeof text === 'string' && /^\d{1,18}$/.test(text)) return text
  throw invalidOption(what, 'a whole number as text', text)
}

export function filterOf(filter: JobFilter | string): JobFilter {
  return typeof filter === 'string' ? parseFilter(filter) : checkJobFilter(filter)
}
