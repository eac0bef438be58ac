// Plans that cannot flip: on a large backlog a claim takes its jobs by the claim index and reads nothing else.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const FUTURE = '{"run_at": "2090-01-01T00:00:00Z"}'

const bulk = (count: number, options: string) =>
  ask(
    db.pool,
    `select count(*) from holdfast.enqueue_jobs(
       (select jsonb_agg('{"type": "task"}'::jsonb) from generate_series(1, $1)), $2, 'never')`,
    [count, options],
  )

test('of 50,000 due and 50,000 future jobs a claim touches those it takes, through ready_claim and no scan of a table', async () => {
  await bulk(50_000, '{}')
  await bulk(50_000, FUTURE)
  const client = await db.connect('admin')

  await client.query('begin')
  const before = await usage(client)
  const claimed = await ask(client, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 100)`)
  const after = await usage(client)
  await client.query('rollback')

  expect(claimed).toHaveLength(100)
  expect(after.table_scans - before.table_scans).toBe(0)
  expect(after.claim_index_scans - before.claim_index_scans).toBeGreaterThan(0)
  expect(after.claim_index_reads - before.claim_index_reads).toBeLessThanOrEqual(200)
})

test('50,000 jobs of the future cost a claim that finds nothing a handful of reads', async () => {
  await bulk(50_000, FUTURE)
  await ask(db.admin, 'vacuum holdfast.ready')
  const client = await db.connect('admin')

  await client.query('begin')
  const reads = await askValue<number>(client, PAGES)
  expect(await ask(client, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 100)`)).toEqual([])
  const readsThen = await askValue<number>(client, PAGES)
  await client.query('rollback')

  expect(readsThen - reads).toBeLessThan(100)
})

test('what is parked already is not read again by a claim that parks more', async () => {
  await bulk(3000, '{"key": "k"}')
  await ask(db.admin, 'analyze holdfast.ready') // of no parked job: the index of them looks like the shortest way
  await ask(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 2)`)
  const client = await db.connect('admin')

  await client.query('begin')
  await ask(client, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 100)`)
  const scans = await askValue<number>(
    client,
    `select pg_stat_get_xact_numscans('holdfast.ready_parked'::regclass)::int`,
  )
  const parked = await askValue<number>(client, 'select count(*)::int from holdfast.ready where parked')
  await client.query('rollback')

  expect(parked).toBeGreaterThan(1001)
  expect(scans).toBe(0)
})

/** 20 keys of 50 jobs each, one of each running, the others parked; a plan is made by what was analyzed before. */
async function crowdedKeys() {
  await ask(
    db.pool,
    `select count(*) from holdfast.enqueue_jobs(
       (select jsonb_agg(jsonb_build_object('type', 'task', 'key', 'k' || i % 20)) from generate_series(1, 1000) as i),
       '{}', 'never')`,
  )
  await ask(db.admin, 'analyze holdfast.ready')
  await ask(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 100)`)
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.lease')).toBe(20)
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.ready where parked')).toBe(980)
  const client = await db.connect('admin')
  const complete = async () => {
    const leases = await ask<Lease>(client, 'select job_id, token, lease_id from holdfast.lease')
    await ask(client, 'select from holdfast.complete_jobs($1)', [settlement(...leases)])
  }
  return { client, complete }
}

test('to free a key takes the next of its jobs, whatever else is parked', async () => {
  const { client, complete } = await crowdedKeys()

  await client.query('begin')
  const before = await askValue<number>(client, PARKED_READS)
  await complete()
  const after = await askValue<number>(client, PARKED_READS)
  const unparked = await askValue<number>(client, 'select count(*)::int from holdfast.ready where unparked')
  await client.query('rollback')

  expect(unparked).toBe(20)
  expect(after - before).toBeLessThan(100)
})

test('a claim of keyed jobs finds them by their ids, not among all that have keys', async () => {
  const { client, complete } = await crowdedKeys()
  await complete()
  await ask(client, 'analyze holdfast.ready')

  await client.query('begin')
  const before = await askValue<number>(client, KEY_SCANS)
  const claimed = await askValue<{ id: string }>(
    client,
    `select jobs from holdfast.claim_batch_v1('w', 'default', '{task}', 20, 9, 'infinity', 1)`,
  )
  const after = await askValue<number>(client, KEY_SCANS)
  await client.query('rollback')

  expect(claimed.id.split(',')).toHaveLength(20)
  expect(after - before).toBe(0)
})

test('leases are not read again when their claim returns them', async () => {
  await bulk(100, '{}')
  const client = await db.connect('admin')

  await client.query('begin')
  const before = await askValue<number>(client, LEASE_READS)
  await ask(client, `select jobs from holdfast.claim_batch_v1('w', 'default', '{task}', 50)`)
  const after = await askValue<number>(client, LEASE_READS)
  await client.query('rollback')

  expect(after - before).toBe(0)
})

test('no function that switches plan nodes off may have its plans compiled: they look too dear to older planners', async () => {
  const compiled = await askList(
    db.admin,
    `select p.proname from pg_proc as p
      where p.pronamespace = 'holdfast'::regnamespace
        and p.proconfig::text like '%enable\\_%'
        and not p.proconfig @> '{jit=off}'`,
  )

  expect(compiled).toEqual([])
})

/** What this transaction has done so far, known at once and to itself only. */
function usage(client: Parameters<typeof ask>[0]) {
  return askRow<{ table_scans: number; claim_index_scans: number; claim_index_reads: number }>(
    client,
    `select sum(pg_stat_get_xact_numscans(c.oid)) filter (where c.relkind = 'r')::int as table_scans,
            sum(pg_stat_get_xact_numscans(c.oid)) filter (where c.relname = 'ready_claim')::int as claim_index_scans,
            sum(pg_stat_get_xact_tuples_returned(c.oid)) filter (where c.relname = 'ready_claim')::int as claim_index_reads
       from pg_class as c
      where c.relnamespace = 'holdfast'::regnamespace and c.relname in ('job', 'ready', 'lease', 'ready_claim')`,
  )
}

const PARKED_READS = `select pg_stat_get_xact_tuples_returned('holdfast.ready_parked'::regclass)::int
                           + pg_stat_get_xact_tuples_returned('holdfast.ready_key'::regclass)::int`
const LEASE_READS = `select pg_stat_get_xact_tuples_returned('holdfast.lease_pkey'::regclass)::int`
const KEY_SCANS = `select pg_stat_get_xact_numscans('holdfast.ready_parked'::regclass)::int
                        + pg_stat_get_xact_numscans('holdfast.ready_key'::regclass)::int`
const PAGES = `select pg_stat_get_xact_blocks_fetched('holdfast.ready_claim'::regclass)::int
                    + pg_stat_get_xact_blocks_fetched('holdfast.ready'::regclass)::int`
