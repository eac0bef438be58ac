// What lists have in common: pages and capped counts.

import type { CappedCount, Page } from '../../domain/operate/page.js'
import type { RowReader } from './row-reader.js'

/** A page in the order of a column of ids or texts; a full page is taken to have a successor. */
export function pageBy<T>(
  rows: readonly RowReader[],
  limit: number,
  cursorOf: (row: RowReader) => string,
  toRow: (row: RowReader) => T,
): Page<T> {
  const last = rows.at(-1)
  return { rows: rows.map(toRow), next: last && rows.length === limit ? cursorOf(last) : null }
}

// SQL counts one further, to know that there are more.
const CAP = 10_000

export function toCappedCount(row: RowReader, column: string): CappedCount {
  const count = row.number(column)
  return { count: Math.min(count, CAP), isCapped: count > CAP }
}
