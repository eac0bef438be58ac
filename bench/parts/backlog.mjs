// backlog: Holdfast drains while the database also holds a million jobs of the future, 100,000 failed ones that wait for their
// retry, and 100,000 that wait for one key that is held; beside its plain drain. Those of the busy key are due and stand before
// the others, in the worker's way. The key's holder, a worker too, runs in both. It starts after
// the tables are filled, so that its maintenance does not fall into the middle of the drain.
import pg from 'pg'
import { drainInside, drainOnce } from '../draining.mjs'
import { holdfast } from '../systems/holdfast.mjs'

export const measures = {
  backlog: { unit: 'jobs/s', better: 'higher', says: 'drained beside jobs that must wait, 1,200,000 in a full run' },
}

const PLAIN = 'holdfast, no backlog'
export const systems = ['holdfast', PLAIN]
export const own = { [PLAIN]: { ...holdfast, name: PLAIN } }
export const mostRuns = 3

const KEY = 'busy'

export async function measure(bench, system) {
  const isPlain = system.name === PLAIN
  const options = { part: 'backlog', jobs: bench.drained }
  const backlog = { future: bench.size(1_000_000, 20_000), retries: bench.size(100_000, 5000) }
  const params = { backlog: isPlain ? undefined : { ...backlog, keyed: bench.size(100_000, 5000) } }
  const { rate } = await drainOnce(bench, { ...system, name: 'holdfast' }, { ...options, params })
  return { backlog: rate }
}

export async function inside(given) {
  const { system, params } = given
  return drainInside(given, {
    beforeFill: async () => params.backlog && fillBacklog(params.backlog),
    beforeGo: () => system.holdKey(KEY),
  })
}

/** The keyed ones by the function that applications call; the rest straight into the tables, as the owner may. */
async function fillBacklog({ future, retries, keyed }) {
  const client = new pg.Client(process.env.STORE_URL)
  await client.connect()
  const members = JSON.stringify(
    Array.from({ length: 1000 }, (_, id) => ({ input: { id }, key: KEY, key_policy: 'exclusive' })),
  )
  const common = JSON.stringify({ type: 'noop', queue: 'bench' })
  for (let i = 0; i < keyed; i += 1000) {
    await client.query('select count(*) from holdfast.enqueue_jobs_v1($1::jsonb, $2::jsonb, $3)', [
      members,
      common,
      'never',
    ])
  }
  await client.query(DIRECT, [future, 0, '1 day'])
  await client.query(DIRECT, [retries, 1, '1 hour'])
  await client.end()
}

const DIRECT = `
  with asked as (
    insert into holdfast.job (type, queue, priority, max_attempts, input, created_at)
    select 'noop', 'bench', 5, 3, '{}', clock_timestamp() from generate_series(1, $1::int)
    returning id
  )
  insert into holdfast.ready (job_id, type, queue, priority, run_at, attempts, max_attempts, token)
  select id, 'noop', 'bench', 5, clock_timestamp() + $3::interval + random() * interval '1 hour', $2::int, 3, $2::int
    from asked`
