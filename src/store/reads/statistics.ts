// The statistics per minute: counted in small rounds, read in steps.

import { STAT_COUNTS, type StatCount } from '../../domain/operate/statistics.js'
import { BULK_MS, call, callOne } from '../connection/call.js'
import type { RowReader } from '../rows/row-reader.js'
import type { Store } from '../store.js'

/** Counts a round of finished jobs; true when there are more to count. */
export async function rollStats(store: Store): Promise<boolean> {
  const statement = { invocation: 'roll_statistics_v1()', value: 'has_more', answerMs: BULK_MS }
  return (await callOne(store, statement, [])).boolean('has_more')
}

export interface StatsQuery {
  readonly since: Date
  readonly until: Date
  readonly stepMs: number
  readonly queues: readonly string[] | undefined
  readonly types: readonly string[] | undefined
}

export interface StatRow {
  readonly at: Date
  readonly counted: StatCount
  readonly count: number
  readonly waitMs: number
  readonly runMs: number
  readonly waitBuckets: readonly number[]
  readonly runBuckets: readonly number[]
}

export async function readStats(store: Store, query: StatsQuery): Promise<{ countedTo: Date | null; rows: StatRow[] }> {
  const invocation = `read_statistics_v1($1::text::timestamptz, $2::text::timestamptz,
    make_interval(secs => $3::double precision / 1000), $4, $5)`
  const { since, until, stepMs, queues, types } = query
  const values = [since.toISOString(), until.toISOString(), stepMs, queues ?? null, types ?? null]
  const rows = await call(store, { invocation }, values)
  return {
    countedTo: rows[0]?.momentOrNull('counted_to') ?? null,
    rows: rows.filter((row) => !row.isNull('fact')).map(toStatRow),
  }
}

function toStatRow(row: RowReader): StatRow {
  return {
    at: row.moment('at'),
    counted: row.oneOf('fact', STAT_COUNTS),
    count: row.number('n'),
    waitMs: row.number('wait_ms'),
    runMs: row.number('run_ms'),
    waitBuckets: row.numbers('wait_buckets'),
    runBuckets: row.numbers('run_buckets'),
  }
}
