// Statistics of a span of time as points and a total.

import { invalidOption } from '../domain/error/invalid-option.js'
import { STAT_COUNTS, type StatCount, type StatPoint, type Stats } from '../domain/operate/statistics.js'
import { type Duration, durationMs } from '../domain/value/duration.js'
import { spreadOf } from '../domain/value/spread.js'
import { readStats, type StatRow } from '../store/reads/statistics.js'
import { databaseNow } from '../store/schedules/schedules.js'
import type { Store } from '../store/store.js'

export interface StatsQuery {
  /** A moment, or a span before now; by default an hour. */
  readonly since?: Date | Duration
  /** By default now. */
  readonly until?: Date | Duration
  /** Whole minutes; by default long enough for about 60 points. At most 1,500 points and 31 days. */
  readonly step?: Duration
  readonly queues?: readonly string[]
  readonly types?: readonly string[]
}

const MINUTE_MS = 60_000
const USUAL_POINTS = 60
const MOST_POINTS = 1500
const MOST_MS = 31 * 86_400_000

export async function statsOf(store: Store, query: StatsQuery): Promise<Stats> {
  const now = (await databaseNow(store)).getTime()
  const until = momentMs(query.until ?? 0, 'until', now)
  const since = momentMs(query.since ?? '1h', 'since', now)
  if (since >= until) throw invalidOption('since', 'earlier than until', query.since ?? '1h')
  if (until - since > MOST_MS) throw invalidOption('since', 'at most 31 days before until', query.since ?? '1h')
  const stepMs = query.step === undefined ? usualStep(until - since) : checkStep(query.step)
  // Points begin at multiples of the step, so that the same minute is in the same point at every reading.
  const from = Math.floor(since / stepMs) * stepMs
  const to = Math.ceil(until / stepMs) * stepMs
  if ((to - from) / stepMs > MOST_POINTS)
    throw invalidOption('step', `long enough for ${MOST_POINTS} points`, query.step)

  const span = { since: new Date(from), until: new Date(to), stepMs, queues: query.queues, types: query.types }
  const { countedTo, rows } = await readStats(store, span)
  const byPoint = groupByPoint(rows)
  const points: StatPoint[] = []
  for (let at = from; at < to; at += stepMs) points.push({ from: new Date(at), ...summed(byPoint.get(at) ?? []) })
  return { since: span.since, until: span.until, stepMs, countedTo, points, total: summed(rows) }
}

function momentMs(moment: Date | Duration, what: string, now: number): number {
  if (!(moment instanceof Date)) return now - durationMs(moment, what)
  if (Number.isNaN(moment.getTime())) throw invalidOption(what, 'a valid Date or a duration', moment)
  return moment.getTime()
}

function usualStep(spanMs: number): number {
  return Math.max(1, Math.ceil(spanMs / USUAL_POINTS / MINUTE_MS)) * MINUTE_MS
}

function checkStep(step: Duration): number {
  const ms = durationMs(step, 'step')
  if (ms === 0 || ms % MINUTE_MS !== 0) throw invalidOption('step', 'whole minutes', step)
  return ms
}

function groupByPoint(rows: readonly StatRow[]): Map<number, StatRow[]> {
  const groups = new Map<number, StatRow[]>()
  for (const row of rows) {
    const group = groups.get(row.at.getTime())
    if (group) group.push(row)
    else groups.set(row.at.getTime(), [row])
  }
  return groups
}

function summed(rows: readonly StatRow[]): Omit<StatPoint, 'from'> {
  const counts = Object.fromEntries(STAT_COUNTS.map((counted) => [counted, 0])) as Record<StatCount, number>
  for (const { counted, count } of rows) counts[counted] += count
  // The last attempt of a failed job is counted as an attempt and as a job; the times are those of the jobs.
  const ended = rows.filter(({ counted }) => counted !== 'attempt_failed' && counted !== 'attempt_lost')
  return {
    counts,
    wait: spreadOf(addedUp(ended.map((row) => row.waitBuckets)), sum(ended.map((row) => row.waitMs))),
    run: spreadOf(addedUp(ended.map((row) => row.runBuckets)), sum(ended.map((row) => row.runMs))),
  }
}

function addedUp(histograms: readonly (readonly number[])[]): number[] {
  const [first, ...others] = histograms
  return (first ?? []).map((n, place) => n + sum(others.map((other) => other[place] ?? 0)))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}
