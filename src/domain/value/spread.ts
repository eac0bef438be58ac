// How spans of time are spread, estimated from a histogram.

import type { Spread } from '../operate/statistics.js'

/** Upper bounds of the buckets in milliseconds; one bucket more holds what lies beyond. The same as SQL's statistics_buckets. */
export const BUCKET_BOUNDS = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000,
] as const

/** `buckets` are counts beside the bounds and one more. */
export function spreadOf(buckets: readonly number[], sumMs: number): Spread {
  const count = buckets.reduce((sum, n) => sum + n, 0)
  return {
    count,
    meanMs: count === 0 ? null : sumMs / count,
    p50Ms: quantile(buckets, count, 0.5),
    p95Ms: quantile(buckets, count, 0.95),
    p99Ms: quantile(buckets, count, 0.99),
  }
}

/** As if the spans of a bucket lay evenly between its bounds; beyond the last bound no more than that is known. */
function quantile(buckets: readonly number[], count: number, share: number): number | null {
  if (count === 0) return null
  let left = share * count
  for (const [place, n] of buckets.entries()) {
    const lower = BUCKET_BOUNDS[place - 1] ?? 0
    const upper = BUCKET_BOUNDS[place]
    if (left <= n && n > 0) return upper === undefined ? lower : lower + (upper - lower) * (left / n)
    left -= n
  }
  return BUCKET_BOUNDS[BUCKET_BOUNDS.length - 1] ?? null
}
