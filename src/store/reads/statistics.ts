// The statistics by the minute: counted in small rounds, read in steps.

import { STAT_FACTS, type StatFact } from '../../domain/operate/operator-views.js'
import { BULK_MS, call } from '../connection/call.js'
import type { Row } from '../connection/connection.js'
import type { Store } from '../store.js'

/** True when there is more to count now. */
export async function rollStats(store: Store): Promise<boolean> {
  const [row] = await call(store, { invocation: 'roll_statistics_v1()', value: 'has_more', answerMs: BULK_MS }, [])
  return row?.has_more === true
}

export interface StatsWish {
  readonly since: Date
  readonly until: Date
  readonly stepMs: number
  readonly queues: readonly string[] | undefined
  readonly types: readonly string[] | undefined
}

export interface StatRow {
  readonly at: Date
  readonly fact: StatFact
  readonly count: number
  readonly waitMs: number
  readonly runMs: number
  readonly waitBuckets: readonly number[]
  readonly runBuckets: readonly number[]
}

export async function readStats(store: Store, wish: StatsWish): Promise<{ countedTo: Date | null; rows: StatRow[] }> {
  const invocation = `read_statistics_v1($1::text::timestamptz, $2::text::timestamptz,
    make_interval(secs => $3::double precision / 1000), $4, $5)`
  const { since, until, stepMs, queues, types } = wish
  const values = [since.toISOString(), until.toISOString(), stepMs, queues ?? null, types ?? null]
  const rows = await call(store, { invocation }, values)
  return {
    countedTo: (rows[0]?.counted_to ?? null) as Date | null,
    rows: rows.filter((row) => (STAT_FACTS as readonly unknown[]).includes(row.fact)).map(toStatRow),
  }
}

function toStatRow(row: Row): StatRow {
  return {
    at: row.at as Date,
    fact: row.fact as StatFact,
    count: Number(row.n),
    waitMs: Number(row.wait_ms),
    runMs: Number(row.run_ms),
    waitBuckets: (row.wait_buckets as unknown[]).map(Number),
    runBuckets: (row.run_buckets as unknown[]).map(Number),
  }
}
