// Statistics of a span of time.

/** What is counted per minute: jobs by their outcome, and attempts that failed or were lost, final or not. */
export const STAT_COUNTS = ['completed', 'failed', 'cancelled', 'superseded', 'attempt_failed', 'attempt_lost'] as const
export type StatCount = (typeof STAT_COUNTS)[number]

/** One span of time of the statistics. */
export interface StatPoint {
  readonly from: Date
  readonly counts: Readonly<Record<StatCount, number>>
  /** From due to claimed, of the jobs that ended in this span after a run. */
  readonly wait: Spread
  /** From claimed to ended. */
  readonly run: Spread
}

/** Estimated from a histogram; null where nothing was measured. */
export interface Spread {
  readonly count: number
  readonly meanMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
}

export interface Stats {
  readonly since: Date
  readonly until: Date
  readonly stepMs: number
  /** Up to here all is counted; later minutes still grow. null: nothing has been counted yet. */
  readonly countedTo: Date | null
  readonly points: readonly StatPoint[]
  readonly total: Omit<StatPoint, 'from'>
}
