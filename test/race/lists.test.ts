// What the reads of operators cost beside two hundred thousand finished and a hundred thousand pending jobs: which tables
// they read, how many days of history, and how many pages.
import { expect, test } from 'vitest'
import { ask, askList, type Session } from '../support/ask.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const FINISHED = 200_000
const PENDING = 100_000
const DAYS = 12
// Of each read that finds enough: the days that its page is about.
const SOME_DAYS = 5
// Those of history, and tomorrow where that is less than an hour away.
const ALL_DAYS = DAYS + 1

// Reads that know where to look, and searches, which give up after 2,000 jobs that do not fit: each asks for its job, at six
// to seven pages with what the planner reads of the indexes, and in each day for its outcome, at three to six: most in the last
// hour of a day, when there is one more to ask.
const KNOWING = 3000
const SEARCHING = 2000 * (7 + 6 * ALL_DAYS)
// Counting ends at 10,001, for each queue and each of its counts.
const COUNTING = 30_000

// A table of so few rows is read whole because that is cheapest, and counts end after as many.
const SMALL = 10_001

const job = (id: number | string) => `'{"ids": ["${id}"]}'`
const READS: [read: string, pages: number, days?: number][] = [
  [`select * from holdfast.list_jobs_v1()`, KNOWING],
  // When a job ended is not known before it is found: the days since it was enqueued are asked.
  [`select * from holdfast.list_jobs_v1('{}', 'id:-:${FINISHED / 2}')`, KNOWING, ALL_DAYS],
  [`select * from holdfast.list_jobs_v1('{"types": ["type7"]}')`, SEARCHING],
  [`select * from holdfast.list_jobs_v1('{"states": ["failed"]}')`, KNOWING],
  // Where there is nothing to find, each day says so at a glance.
  [`select * from holdfast.list_jobs_v1('{"states": ["cancelled"]}')`, KNOWING, ALL_DAYS],
  [`select * from holdfast.list_jobs_v1('{"states": ["completed"]}')`, KNOWING],
  [`select * from holdfast.list_jobs_v1('{"states": ["completed", "failed", "cancelled", "superseded"]}')`, KNOWING],
  [
    `select * from holdfast.list_jobs_v1('{"states": ["failed"], "types": ["type0"], "queues": ["queue0"]}')`,
    SEARCHING,
  ],
  [`select * from holdfast.list_jobs_v1('{"states": ["failed"], "error": "no such words"}')`, SEARCHING, ALL_DAYS],
  [`select * from holdfast.list_jobs_v1('{"states": ["completed"], "tags": ["rare"]}')`, SEARCHING],
  [
    `select * from holdfast.list_jobs_v1('{"states": ["completed"], "input": [{"path": ["n"], "value": "7"}]}')`,
    SEARCHING,
  ],
  [`select * from holdfast.list_jobs_v1('{"states": ["completed"], "worker": "nobody"}')`, SEARCHING],
  [`select * from holdfast.list_jobs_v1('{"states": ["pending"]}')`, KNOWING],
  [`select * from holdfast.list_jobs_v1('{"states": ["pending"], "queues": ["lone"]}')`, SEARCHING],
  [`select * from holdfast.list_jobs_v1('{"states": ["pending"], "tags": ["rare"]}')`, SEARCHING],
  [`select * from holdfast.list_jobs_v1('{"states": ["running"]}')`, KNOWING],
  [`select * from holdfast.list_jobs_v1('{"since_ms": 3600000}')`, KNOWING],
  [`select * from holdfast.list_jobs_v1('{"states": ["completed"], "until_ms": 432000000}')`, KNOWING],
  [`select * from holdfast.list_jobs_v1('{"key": "key40"}')`, KNOWING],
  [`select * from holdfast.list_jobs_v1('{"key": "key40", "states": ["failed"]}')`, SEARCHING, ALL_DAYS],
  [`select * from holdfast.list_jobs_v1('{"pipeline_id": "c0ffee00-0000-4000-8000-000000000001"}')`, KNOWING],
  [`select * from holdfast.list_jobs_v1(${job(FINISHED - 5)})`, KNOWING],
  [`select * from holdfast.count_jobs_v1('{"states": ["failed"]}')`, KNOWING, ALL_DAYS],
  [`select * from holdfast.count_jobs_v1('{"states": ["completed"]}')`, COUNTING],
  [`select * from holdfast.count_jobs_v1('{"states": ["pending"]}')`, COUNTING],
  [`select * from holdfast.job_versions_v1('{${FINISHED - 10},${FINISHED + 5}}')`, KNOWING],
  [`select * from holdfast.list_attempts_v1(5000)`, KNOWING],
  [`select * from holdfast.read_logs_v1(5000)`, KNOWING],
  [`select * from holdfast.list_audit_v1()`, KNOWING],
  [`select * from holdfast.list_audit_v1(5000)`, KNOWING],
  [`select * from holdfast.list_queues_v1()`, 6 * COUNTING],
  [`select * from holdfast.list_workers_v1()`, KNOWING],
  [`select * from holdfast.find_key_v1('key40')`, KNOWING],
  [`select * from holdfast.live_counts_v1()`, COUNTING],
  [
    `select * from holdfast.read_statistics_v1(holdfast.now() - interval '1 hour', holdfast.now(), '1 minute')`,
    KNOWING,
  ],
]

test('no read of an operator scans a table or all days, and each reads a bounded number of pages', async () => {
  await fill(db.admin)
  const session = await db.connect('admin')
  const costs: string[] = []
  for (const [read, allowed, mostDays = SOME_DAYS] of READS) {
    await ask(session, read)
    await ask(session, 'begin')
    const before = await scans(session)
    const [plan] = await askList<[{ Plan: Record<string, number> }]>(
      session,
      `explain (analyze, buffers, format json) ${read}`,
    )
    const after = await scans(session)
    await ask(session, 'rollback')
    const scanned = [...after]
      .filter(([table, { seq }]) => seq > (before.get(table)?.seq ?? 0) + SMALL)
      .map(([table]) => table)
    const days = [...after].filter(
      ([table, { all }]) => /^outcome_2/.test(table) && all > (before.get(table)?.all ?? 0),
    )
    const pages = (plan?.[0].Plan['Shared Hit Blocks'] ?? 0) + (plan?.[0].Plan['Shared Read Blocks'] ?? 0)
    costs.push(`${String(pages).padStart(7)} pages, ${days.length} days  ${read}`)

    expect.soft(scanned, read).toEqual([])
    expect.soft(days.length, read).toBeLessThanOrEqual(mostDays)
    expect.soft(pages, read).toBeLessThanOrEqual(allowed)
    expect(pages, read).toBeGreaterThan(0)
  }
  console.log(costs.join('\n'))
})

/** Of each table that grows: rows read so far by scanning it, and how often it was read in any way. */
async function scans(session: Session): Promise<Map<string, { seq: number; all: number }>> {
  const rows = await ask(
    session,
    `select relname, seq_tup_read::int as seq, (seq_scan + coalesce(idx_scan, 0))::int as all
       from pg_stat_xact_user_tables
      where schemaname = 'holdfast'
        and (relname in ('job', 'ready', 'lease', 'attempt', 'job_log', 'audit', 'statistics_minute') or relname ~ '^outcome')`,
  )
  return new Map(rows.map(({ relname, seq, all }) => [relname, { seq, all }]))
}

/** Finished jobs over twelve days up to now, one in 1,000 failed; pending ones of five queues, and a single one of a sixth. */
async function fill(session: Session): Promise<void> {
  await ask(
    session,
    `do $$
     declare
       d date;
     begin
       for d in select generate_series((holdfast.now() at time zone 'utc')::date - ${DAYS - 1}, (holdfast.now() at time zone 'utc')::date - 1, '1 day')::date loop
         execute format('create table if not exists holdfast.outcome_%s partition of holdfast.outcome for values from (%L) to (%L)',
           to_char(d, 'YYYYMMDD'), d::timestamp at time zone 'utc', (d + 1)::timestamp at time zone 'utc');
       end loop;
     end $$`,
  )
  await ask(
    session,
    `with made as (
       insert into holdfast.job (type, queue, priority, max_attempts, input, tags, key, key_policy, pipeline_id, created_at)
       select 'type' || n % 20, 'queue' || n % 5, 5, 3, jsonb_build_object('n', n), case when n = 1 then '{rare}' else '{}'::text[] end,
              case when n % 10 = 0 then 'key' || n % 100 end, case when n % 10 = 0 then 'exclusive' end,
              case when n % 100 = 0 then 'c0ffee00-0000-4000-8000-000000000001'::uuid end,
              holdfast.now() - ($1 - n) * ${DAYS - 1.5} * interval '1 day' / $1
         from generate_series(1, $1) as n order by n
       returning id, created_at
     )
     insert into holdfast.outcome (job_id, token, run_at, locked_at, finished_at, attempts, state, locked_by, error)
     select m.id, 1, m.created_at, m.created_at, m.created_at, 1, case when m.id % 1000 = 0 then 'failed' else 'completed' end, 'w',
            case when m.id % 1000 = 0 then '{"name": "Error", "message": "out of order"}'::jsonb end
       from made as m`,
    [FINISHED],
  )
  await ask(
    session,
    `with made as (
       insert into holdfast.job (type, queue, priority, max_attempts, input, created_at)
       select 'type' || n % 20, case when n = 1 then 'lone' else 'queue' || n % 5 end, 5, 3, '{}', holdfast.now()
         from generate_series(1, $1) as n order by n
       returning *
     )
     insert into holdfast.ready (job_id, run_at, priority, max_attempts, type, queue)
     select m.id, m.created_at, 5, 3, m.type, m.queue from made as m`,
    [PENDING],
  )
  await ask(
    session,
    `insert into holdfast.attempt (job_id, token, attempt, verdict, lease_id, worker, started_at, ended_at)
     select o.job_id, 1, 1, 'failed', gen_random_uuid(), 'w', o.finished_at, o.finished_at from holdfast.outcome as o where o.state = 'failed'`,
  )
  await ask(
    session,
    `insert into holdfast.audit (at, actor, action, job_id) select holdfast.now(), 'ada', 'retry', n from generate_series(1, 50000) as n`,
  )
  await ask(session, 'vacuum analyze')
}
