// node bench/lists.mjs [--quick] [--times N]: what each read of an operator takes on a database of a million finished and
// 100,000 pending jobs, beside the same on an empty one. Both are asked in turns, so that a slow minute falls on both.
import { parseArgs } from 'node:util'
import { createHoldfast } from 'holdfast'
import pg from 'pg'
import { now, until } from './clock.mjs'
import { describeMachine } from './machine.mjs'
import { openStores } from './stores.mjs'

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, times: { type: 'string' } } })
const TIMES = Number(flags.times ?? (flags.quick ? 20 : 200))
const FINISHED = flags.quick ? 50_000 : 1_000_000
const PENDING = flags.quick ? 5000 : 100_000

const READS = {
  'jobs, newest': (operator) => operator.jobs(),
  'jobs, a page further down': (operator, middle) => operator.jobs({ after: `id:-:${middle}` }),
  'state:failed': (operator) => operator.jobs({ filter: 'state:failed' }),
  'state:completed': (operator) => operator.jobs({ filter: 'state:completed' }),
  'state:pending': (operator) => operator.jobs({ filter: 'state:pending' }),
  'state:running': (operator) => operator.jobs({ filter: 'state:running' }),
  'state:pending queue:lone': (operator) => operator.jobs({ filter: 'state:pending queue:lone' }),
  'state:failed type:type0 since:24h': (operator) => operator.jobs({ filter: 'state:failed type:type0 since:24h' }),
  'state:failed error:"nowhere"': (operator) => operator.jobs({ filter: 'state:failed error:nowhere' }),
  'type:type7': (operator) => operator.jobs({ filter: 'type:type7' }),
  'state:completed until:5d': (operator) => operator.jobs({ filter: 'state:completed until:5d' }),
  'tag:rare, no job': (operator) => operator.jobs({ filter: 'state:completed tag:rare' }),
  'input.n=7, no job': (operator) => operator.jobs({ filter: 'state:completed input.n=7' }),
  'one job': (operator, middle) => operator.job(middle),
  'versions of 100 jobs': (operator, middle) =>
    operator.versions(Array.from({ length: 100 }, (_, place) => middle + place)),
  'count state:failed': (operator) => operator.count('state:failed'),
  'count state:completed': (operator) => operator.count('state:completed'),
  queues: (operator) => operator.queues(),
  workers: (operator) => operator.workers(),
  'alive now': (operator) => operator.live(),
  'statistics of a day': (operator) => operator.stats({ since: '24h' }),
  audit: (operator) => operator.audit(),
}

const DAYS = `
  do $$
  declare
    d date;
  begin
    for d in select generate_series((now() at time zone 'utc')::date - 10, (now() at time zone 'utc')::date - 1, '1 day')::date loop
      execute format('create table holdfast.outcome_%s partition of holdfast.outcome for values from (%L) to (%L)',
        to_char(d, 'YYYYMMDD'), d::timestamp at time zone 'utc', (d + 1)::timestamp at time zone 'utc');
    end loop;
  end $$`

const HISTORY = `
  with made as (
    insert into holdfast.job (type, queue, priority, max_attempts, input, created_at)
    select 'type' || n % 20, 'queue' || n % 5, 5, 3, jsonb_build_object('n', n),
           clock_timestamp() - ($1::int - n) * interval '10 days' / $1::int
      from generate_series(1, $1::int) as n order by n
    returning id, created_at
  )
  insert into holdfast.outcome (job_id, token, run_at, locked_at, finished_at, attempts, state, locked_by, error)
  select id, 1, created_at, created_at, created_at, 1, case when id % 5000 = 0 then 'failed' else 'completed' end, 'w',
         case when id % 5000 = 0 then '{"name": "Error", "message": "out of order"}'::jsonb end
    from made`

const BACKLOG = `
  with made as (
    insert into holdfast.job (type, queue, priority, max_attempts, input, created_at)
    select 'type' || n % 20, case when n = 1 then 'lone' else 'queue' || n % 5 end, 5, 3, '{}', clock_timestamp()
      from generate_series(1, $1::int) as n order by n
    returning *
  )
  insert into holdfast.ready (job_id, run_at, priority, max_attempts, type, queue)
  select id, created_at, 5, 3, type, queue from made`

const stores = await openStores()
try {
  console.log(
    `${describeMachine().cpu}; ${FINISHED} finished, ${PENDING} pending; each read ${TIMES} times, milliseconds`,
  )
  const empty = await opened(0, 0)
  const full = await opened(FINISHED, PENDING)
  console.log(
    `${'read'.padEnd(36)}${'empty p50'.padStart(11)}${'p99'.padStart(9)}${'full p50'.padStart(11)}${'p99'.padStart(9)}`,
  )
  for (const [name, read] of Object.entries(READS)) {
    const spans = { empty: [], full: [] }
    for (let i = 0; i < TIMES; i += 1) {
      spans.empty.push(await timed(() => read(empty.holdfast.operator, 1)))
      spans.full.push(await timed(() => read(full.holdfast.operator, Math.ceil(FINISHED / 2))))
    }
    const cells = [share(spans.empty, 0.5), share(spans.empty, 0.99), share(spans.full, 0.5), share(spans.full, 0.99)]
    console.log(name.padEnd(36) + cells.map((ms, place) => ms.toFixed(1).padStart(place % 2 ? 9 : 11)).join(''))
  }
  for (const { holdfast, store } of [empty, full]) {
    await holdfast.close()
    await store.close()
  }
} finally {
  await stores.close()
}

async function opened(finished, pending) {
  const store = await stores.fresh('postgres')
  const holdfast = createHoldfast({ database: store.url, jobs: [], maxConnections: 4 })
  await holdfast.migrate()
  if (finished > 0) await fill(store.url, finished, pending)
  return { holdfast, store }
}

async function timed(work) {
  const start = now()
  await work()
  return now() - start
}

function share(spans, wanted) {
  const sorted = [...spans].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * wanted))]
}

/** Finished jobs of the last ten days, one in 5,000 failed, and pending ones of five queues, straight into the tables. */
async function fill(url, finished, pending) {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {})
  try {
    await pool.query(DAYS)
    await pool.query(HISTORY, [finished])
    await pool.query(BACKLOG, [pending])
    await pool.query(`insert into holdfast.audit (at, actor, action, job_id)
      select clock_timestamp(), 'ada', 'retry', n from generate_series(1, 10000) as n`)
    await pool.query('vacuum analyze')
    await countStatistics(pool)
  } finally {
    await pool.end()
  }
}

/** Statistics are counted a few seconds behind, and only by later rounds than the one that noted the time. */
async function countStatistics(pool) {
  const roll = async () => (await pool.query('select holdfast.roll_statistics_v1() as has_more')).rows[0].has_more
  await roll()
  await until(roll, 500)
  while (await roll());
}
