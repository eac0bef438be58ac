// Pages of lists, and counts that end at a limit.

/** One page of a list. Fewer rows than asked for do not mean the end; only a `next` of null does. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Pass it as `after` for the next page; null at the end. */
  readonly next: string | null
}

/** `isCapped`: there are more; show it as "10,000+". */
export interface CappedCount {
  readonly count: number
  readonly isCapped: boolean
}
