// Plans that stay what they are: with fresh statistics, with none, with ones that call the tables empty, and in a session whose
// plans were made while nothing ran, each operation handles a few rows per job and no more, whatever the tables hold.
import type pg from 'pg'
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { type Lease, settlement } from '../../support/given.js'
import { countRows, prepareToCount } from '../../support/rows-handled.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

// The tables hold thousands, and a batch of 300 joined with itself is 90,000.
const FILL = 20_000
const BATCH = 300
const ROWS_PER_JOB = 60
const ROWS_PER_CALL = 5000

interface Operation {
  readonly name: string
  /** How many jobs it is for. */
  readonly jobs: number
  prepare?(client: pg.Client): Promise<unknown>
  call(client: pg.Client): Promise<unknown>
}

const enqueue = (
  client: pg.Client,
  n: number,
  { type = 'task', key = 'null', ...options }: Record<string, string> = {},
) =>
  ask(
    client,
    `select count(*) from holdfast.enqueue_jobs((
       select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('type', $2::text, 'key', ${key}))) from generate_series(1, $1) as i
     ), $3, 'never')`,
    [n, type, JSON.stringify(options)],
  )

const pipelines = async (client: pg.Client, n: number, queue: string) => {
  const steps = ['a', 'b', 'c'].map((name, i, all) => ({ name, type: 'task', queue, after: all.slice(i - 1, i) }))
  await ask(client, `select holdfast.enqueue_pipeline('{"name": "p"}', $2, 'never') from generate_series(1, $1)`, [
    n,
    JSON.stringify(steps),
  ])
}

async function claim(client: pg.Client, n: number, queue = 'default'): Promise<Lease[]> {
  return ask<Lease>(
    client,
    `select id as job_id, token, lease_id from holdfast.claim_jobs('w', array[$1], '{task}', $2)`,
    [queue, n],
  )
}

const inBatches = async (total: number, act: (n: number) => Promise<unknown>) => {
  for (let left = total; left > 0; left -= 1000) await act(Math.min(left, 1000))
}

/** Jobs in every place: pending ones of two queues, with keys and without, running, waiting and finished ones. */
async function fill(client: pg.Client, n: number): Promise<void> {
  await inBatches(n, (some) => enqueue(client, some, { queue: 'done' }))
  await inBatches(n, async (some) =>
    ask(client, 'select from holdfast.complete_jobs($1)', [settlement(...(await claim(client, some, 'done')))]),
  )
  await inBatches(n, (some) => enqueue(client, some, { queue: 'busy' }))
  await inBatches(n, (some) => claim(client, some, 'busy'))
  await inBatches(n, (some) => enqueue(client, some))
  await inBatches(n, (some) => enqueue(client, some, { queue: 'later', run_at: '2090-01-01T00:00:00Z' }))
  await inBatches(n / 2, (some) => enqueue(client, some, { queue: 'keyed', key: `'k' || random() * 4000` }))
  await pipelines(client, n / 20, 'piped')
}

/** Settles a batch that was claimed before. */
const settling = (name: string, jobs: number, more: object = {}, queue = 'default'): Operation => {
  let leases: Lease[] = []
  return {
    name: `${name} of ${queue}`,
    jobs,
    prepare: async (client) => {
      leases = await claim(client, jobs, queue)
    },
    call: (client) =>
      ask(client, `select from holdfast.${name}($1)`, [settlement(...leases.map((lease) => ({ ...lease, ...more })))]),
  }
}

/** A batch that was claimed before, its ids, tokens and lease ids in arrays. */
const completing = (
  name: string,
  jobs: number,
  call: (client: pg.Client, leases: Lease[]) => Promise<unknown>,
): Operation => {
  let leases: Lease[] = []
  return {
    name,
    jobs,
    prepare: async (client) => {
      leases = await claim(client, jobs)
    },
    call: (client) => call(client, leases),
  }
}

/** A call whose $1 is what a query has found; `jobs` is how many it is about. */
const calling = (text: string, find = 'select 1', jobs = 1): Operation => {
  let found: unknown
  return {
    name: text,
    jobs,
    prepare: async (client) => {
      found = await askValue(client, `select (${find})::text`)
    },
    call: (client) => ask(client, `select from holdfast.${text.replaceAll('$1', String(found))}`),
  }
}

const event = [{ kind: 'event', name: 'e', event: 'paid', delay_ms: 3_600_000 }]
const READY = `select job_id from holdfast.ready where queue = 'default' order by job_id desc limit 1`
const RUNNING = 'select max(job_id) from holdfast.lease'
const FINISHED = 'select max(job_id) from holdfast.outcome'
const HELD = 'select quote_literal(max(key)) from holdfast.lease'
const ALIVE = `select quote_literal(max(s.pipeline_id::text)) from holdfast.pipeline_step as s join holdfast.lease as l using (job_id)`
const STOPPED = 'select quote_literal(max(id::text)) from holdfast.pipeline where stopped_at is not null'
// The leases of all workers are one small table: some operations read all of it, by design.
const ALL_LEASES = 2 * FILL
const STEPS = `select quote_literal(jsonb_agg(s)) from (
  select l.job_id, l.token, l.lease_id, 'complete' as outcome from holdfast.lease as l where l.queue = 'piped' order by l.job_id limit $n) as s`
const STEP = `select format('%s, %s, %L', l.job_id, l.token, l.lease_id) from holdfast.lease as l where l.queue = 'piped' limit 1`

function operations(n: number): Operation[] {
  return [
    { name: 'claim', jobs: n, call: (client) => claim(client, n) },
    { name: 'claim of keyed jobs', jobs: n, call: (client) => claim(client, n, 'keyed') },
    { name: 'claim of steps', jobs: 3 * n, call: (client) => claim(client, 3 * n, 'piped') },
    { name: 'enqueue_pipeline', jobs: 3, call: (client) => pipelines(client, 1, 'piped') },
    calling(`claim_batch_v1('w', 'default', '{task}', ${n})`, 'select 1', n),
    {
      name: 'claim where jobs of held keys stand first',
      jobs: 2 * n,
      prepare: (client) =>
        enqueue(client, n, { queue: 'keyed', priority: '0', key: '(select max(key) from holdfast.lease)' }),
      call: (client) => claim(client, n, 'keyed'),
    },
    calling(`claim_one($1, 'w')`, READY),
    calling(`claim_by_id_v1($1, 'w')`, READY),
    calling(`claim_quarantined_v1('w', '{default,keyed}', '{task}')`),
    calling(`enqueue_and_claim_v1('[{}, {}]', '{"type": "task"}', 'w', 'default')`),
    settling('complete_jobs', n),
    settling('complete_jobs', n, {}, 'keyed'),
    settling('complete_jobs', n, {}, 'piped'),
    settling('fail_jobs', n, { error: { message: 'x' } }),
    settling('fail_jobs', n, { error: { message: 'x' }, permanent: true }, 'keyed'),
    settling('fail_jobs', n, { permanent: true }, 'piped'),
    settling('snooze_jobs', n, { delay_ms: 60_000 }),
    settling('suspend_jobs', n, { waits: event }),
    settling('release_jobs', n),
    settling('cancel_jobs', n),
    settling('renew_leases', n),
    completing('complete_plain_jobs', n, (client, leases) =>
      ask(client, 'select holdfast.complete_plain_jobs_v1($1, $2, $3, $4)', [
        leases.map(({ job_id }) => job_id),
        [leases.length],
        leases.slice(0, 1).map(({ token }) => token),
        leases.slice(0, 1).map(({ lease_id }) => lease_id),
      ]),
    ),
    completing('complete_plain_jobs of a claim each', n, (client, leases) =>
      ask(client, 'select holdfast.complete_plain_jobs_v1($1, $2, $3, $4)', [
        leases.map(({ job_id }) => job_id),
        leases.map((_, i) => i + 1),
        leases.map(({ token }) => token),
        leases.map(({ lease_id }) => lease_id),
      ]),
    ),
    completing('complete_jobs and its repetition', 2 * n, async (client, leases) => {
      for (const _ of 'ab') await ask(client, 'select from holdfast.complete_jobs($1)', [settlement(...leases)])
    }),
    calling(`settle_jobs_v1($1, 'w', '{piped}', '{${n}}', '{task}')`, STEPS.replace('$n', String(n)), 2 * n),
    calling(`complete_step_v1($1, null, 'w', '{piped}', '{1}', '{task}')`, STEP),
    calling(`emit_event('paid')`, 'select 1', n),
    calling(`renew_worker_v1('v')`, 'select 1', ALL_LEASES),
    calling('reap_leases(100)', 'select 1', ALL_LEASES),
    calling('offer_parked_v1(100)', 'select 1', 100),
    calling(`cancel_job($1)`, RUNNING),
    calling('cancel_job($1)', READY),
    calling('retry_job($1)', FINISHED),
    calling('cancel_pipeline($1)', ALIVE),
    calling('retry_pipeline($1)', STOPPED),
    calling('find_job($1)', FINISHED),
    calling('explain_job($1)', READY),
    calling('find_key_v1($1)', HELD),
    calling('job_versions_v1(array[$1::bigint])', FINISHED),
    calling('list_jobs_v1()', 'select 1', 50),
    calling(`list_jobs_v1('{"states": ["completed"]}')`, 'select 1', 50),
    calling(`list_jobs_v1('{"states": ["pending", "running", "waiting"]}')`, 'select 1', 50),
    calling('list_pipelines_v1()', 'select 1', 50),
    calling('list_pipeline_steps_v1($1)', ALIVE),
    calling(`sleep_worker('w', '{default,keyed}', 1000)`),
    calling(`due_maintenance_v1('{default,keyed}', '{task}', '{}')`, 'select 1', ALL_LEASES),
    calling('unserved_work_v1()', 'select 1', 1000),
    calling('live_counts_v1()', 'select 1', 1000),
    calling('list_queues_v1()', 'select 1', 5000),
    calling('check_places()', 'select 1', 10 * FILL),
  ]
}

async function measure(client: pg.Client, n: number): Promise<{ dear: string[]; ran: Set<string> }> {
  const dear: string[] = []
  const ran = new Set<string>()
  for (const { name, jobs, prepare, call } of operations(n)) {
    await prepare?.(client)
    const { rows, functions, dearest } = await countRows(client, () => call(client))
    for (const each of functions) ran.add(each)
    if (rows > ROWS_PER_CALL + jobs * ROWS_PER_JOB) dear.push(`${name}: ${rows} rows, of them ${dearest}`)
  }
  return { dear, ran }
}

async function session(): Promise<pg.Client> {
  const client = await db.connect('admin')
  await prepareToCount(client)
  return client
}

/** The functions that switch a node of plans off: each must have run, or its setting is proven by nothing. */
const switched = () =>
  askList<string>(
    db.admin,
    `select distinct p.proname::text from pg_proc as p
      where p.pronamespace = 'holdfast'::regnamespace and p.proconfig::text like '%enable\\_%' order by 1`,
  )

test('without statistics each operation handles a few rows per job, and every function with a planner setting takes part', async () => {
  const client = await session()
  await fill(client, FILL)

  const { dear, ran } = await measure(client, BATCH)

  expect(dear).toEqual([])
  expect((await switched()).filter((name) => !ran.has(name))).toEqual([])
})

test('with fresh statistics each operation handles a few rows per job', async () => {
  const client = await session()
  await fill(client, FILL)
  await ask(client, 'analyze')

  expect((await measure(client, BATCH)).dear).toEqual([])
})

test('with statistics that call the tables empty each operation handles a few rows per job', async () => {
  const client = await session()
  await fill(client, 200)
  for (const table of ['ready', 'waiting', 'lease']) await ask(client, `delete from holdfast.${table}`)
  await ask(
    client,
    'truncate holdfast.job, holdfast.outcome, holdfast.pipeline, holdfast.pipeline_step, holdfast.dependency',
  )
  await ask(client, 'vacuum (analyze, truncate false)')
  await fill(client, FILL)

  expect((await measure(client, BATCH)).dear).toEqual([])
})

test('in a session whose plans were made while nothing ran each operation handles a few rows per job', async () => {
  const client = await session()
  for (let round = 0; round < 8; round += 1) {
    await fill(client, 20)
    await measure(client, 1)
  }
  await fill(client, FILL)

  expect((await measure(client, BATCH)).dear).toEqual([])
})
