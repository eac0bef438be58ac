// Who may do what: tables belong to the owner, functions to the roles of their role.
import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const ROLES = ['producer', 'worker', 'operator', 'viewer'] as const
const DENIED = '42501'

/** An owner's session that acts as that role alone, which not even the test's application role does. */
async function actingAs(role: (typeof ROLES)[number]): Promise<pg.Client> {
  const client = await db.connect('admin')
  await client.query(`set role holdfast_${role}`)
  return client
}

describe('tables', () => {
  test('the application can read and write none of them', async () => {
    const relations = await askList<string>(
      db.admin,
      `select c.relname from pg_class as c
        where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p', 'S') order by 1`,
    )

    expect(relations).toEqual(
      expect.arrayContaining(['job', 'ready', 'lease', 'outcome', 'outcome_default', 'audit', 'job_id_seq']),
    )
    for (const relation of relations) {
      await expect(ask(db.pool, `select * from holdfast.${relation}`)).rejects.toMatchObject({ code: DENIED })
    }
  })

  test.each([
    'insert into holdfast.queue (name) values ($$q$$)',
    'update holdfast.lease set locked_until = $$infinity$$',
    'delete from holdfast.job',
    'truncate holdfast.ready',
    'select nextval($$holdfast.job_id_seq$$)',
    'drop table holdfast.job',
    'alter table holdfast.job add column x text',
    'create table holdfast.mine (id integer)',
    'create function holdfast.mine() returns integer language sql as $$ select 1 $$',
  ])('the application is denied: %s', async (statement) => {
    await expect(ask(db.pool, statement)).rejects.toMatchObject({ code: DENIED })
  })

  test('no role has a right on any table, and PUBLIC neither; viewers may read the view', async () => {
    const rights = await ask(
      db.admin,
      `select c.relname, coalesce(r.rolname, 'PUBLIC') as role, a.privilege_type as right
         from pg_class as c
        cross join lateral aclexplode(c.relacl) as a
         left join pg_roles as r on r.oid = a.grantee
        where c.relnamespace = 'holdfast'::regnamespace and a.grantee <> c.relowner`,
    )

    expect(rights).toEqual([{ relname: 'jobs', role: 'holdfast_viewer', right: 'SELECT' }])
  })
})

describe('functions', () => {
  test('PUBLIC may execute nothing in the schema', async () => {
    const open = await askList(
      db.admin,
      `select p.oid::regprocedure::text from pg_proc as p
        where p.pronamespace = 'holdfast'::regnamespace
          and (p.proacl is null or exists (select from aclexplode(p.proacl) as a where a.grantee = 0))`,
    )

    expect(open).toEqual([])
  })

  // pg_temp is named, and last, because where it is not named it is searched first, for tables and for types.
  test('each function granted to a role runs as its owner, without the search path of its caller', async () => {
    const careless = await askList(
      db.admin,
      `select distinct p.oid::regprocedure::text
         from pg_proc as p
        cross join lateral aclexplode(p.proacl) as a
        where p.pronamespace = 'holdfast'::regnamespace
          and a.grantee <> p.proowner
          and not (p.prosecdef and coalesce(p.proconfig, '{}') @> array['search_path=pg_catalog, pg_temp'])`,
    )

    // The clock reads no table: it needs no right of the owner, and is cheap because it has no settings of its own.
    expect(careless).toEqual(['holdfast.now()'])
  })

  test('each function that runs as its owner is granted to some role', async () => {
    const idle = await askList(
      db.admin,
      `select p.oid::regprocedure::text from pg_proc as p
        where p.pronamespace = 'holdfast'::regnamespace and p.prosecdef
          and not exists (select from aclexplode(p.proacl) as a where a.grantee <> p.proowner)`,
    )

    expect(idle).toEqual([])
  })

  test.each([
    `select holdfast.end_leases('{1}', '{completed}', null, null)`,
    `select holdfast.return_leases('{1}', null, 1)`,
    `select holdfast.free_keys('{k}', '{1}')`,
    `select * from holdfast.lock_leases('[]')`,
    `select holdfast.supersede_pending('k', 'supersede', 9)`,
    `select holdfast.wake_workers('{default}', now(), 'always')`,
    `select holdfast.audit_operation('me', 'nothing', 1, '{}')`,
    `select holdfast.refuse('LEASE_LOST', 'x')`,
    `select holdfast.record_migration(99, 'x', 'x')`,
    `select holdfast.prune_keys(1)`,
    `select holdfast.state_of(1)`,
    `select holdfast.match_jobs(null, null, 1)`,
    `select holdfast.count_minutes(now(), now())`,
    `select * from holdfast.claim_unkeyed('{}', 'w', gen_random_uuid(), now(), '{}')`,
  ])('the application is denied the inner function: %s', async (call) => {
    await expect(ask(db.pool, call)).rejects.toMatchObject({ code: DENIED })
  })
})

describe('roles', () => {
  const calls: [string, readonly (typeof ROLES)[number][]][] = [
    [`select holdfast.enqueue('task')`, ['producer', 'worker', 'operator']],
    [`select holdfast.enqueue_jobs('[]')`, ['producer', 'worker', 'operator']],
    [`select * from holdfast.claim_jobs('w', '{default}', '{task}', 1)`, ['worker']],
    [`select * from holdfast.claim_one(1, 'w')`, ['worker']],
    [`select holdfast.claim_job(1, 'w')`, ['worker']],
    [`select holdfast.claim_batch_v1('w', 'default', '{task}', 1)`, ['worker']],
    [`select holdfast.enqueue_and_claim_v1('[1]', '{"type": "task"}', 'w', 'default')`, ['worker']],
    [`select holdfast.claim_by_id_v1(1, 'w')`, ['worker']],
    [`select * from holdfast.complete_jobs('[]')`, ['worker']],
    [`select holdfast.complete_plain_jobs_v1('{}', '{}', '{}', '{}')`, ['worker']],
    [`select * from holdfast.fail_jobs('[]')`, ['worker']],
    [`select * from holdfast.snooze_jobs('[]')`, ['worker']],
    [`select * from holdfast.release_jobs('[]')`, ['worker']],
    [`select holdfast.release_claims_v1('w', '{}')`, ['worker']],
    [`select * from holdfast.cancel_jobs('[]')`, ['worker']],
    [`select * from holdfast.renew_leases('[]')`, ['worker']],
    [`select holdfast.put_job_types_v1('[]')`, ['worker']],
    [`select holdfast.record_heartbeat_v1('w')`, ['worker']],
    ['select holdfast.offer_parked_v1()', ['worker']],
    [`select holdfast.prune_jobs_v1('1 day')`, ['worker']],
    ['select holdfast.cancel_job(1)', ['producer', 'operator']],
    ['select holdfast.retry_job(1)', ['operator']],
    [`select holdfast.pause_queue('q')`, ['operator']],
    [`select holdfast.resume_queue('q')`, ['operator']],
    [`select holdfast.pin_job_type('t', '{}')`, ['operator']],
    [`select * from holdfast.enqueue_as_operator_v1('[]')`, ['operator']],
    [`select * from holdfast.start_bulk_v1('retry', '{}')`, ['operator']],
    ['select holdfast.cancel_bulk_v1(1)', ['operator']],
    ['select * from holdfast.work_bulk_v1()', ['worker']],
    ['select holdfast.roll_statistics_v1()', ['worker']],
    ['select * from holdfast.list_jobs_v1()', ['operator', 'viewer']],
    ['select * from holdfast.list_queues_v1()', ['worker', 'operator', 'viewer']],
    ['select * from holdfast.list_audit_v1()', ['operator', 'viewer']],
    ['select * from holdfast.check_places()', ['operator', 'viewer']],
    ['select * from holdfast.find_job(1)', ROLES],
    [`select * from holdfast.current('k')`, ROLES],
    [`select * from holdfast.key_history('k')`, ROLES],
    [`select holdfast.lease_seconds('t')`, ROLES],
    ['select holdfast.schema_revision_v1()', ROLES],
    ['select holdfast.now()', ROLES],
    ['select * from holdfast.jobs', ['viewer']],
  ]
  test.each(ROLES)('the %s may call the functions of its role and no others', async (role) => {
    const client = await actingAs(role)

    const may: string[] = []
    for (const [call] of calls) {
      const code = await ask(client, call).then(
        () => undefined,
        (error) => error.code,
      )
      if (code !== DENIED) may.push(call)
    }

    expect(may).toEqual(calls.flatMap(([call, roles]) => (roles.includes(role) ? [call] : [])))
  })

  test('the view shows what functions of other roles have done', async () => {
    const id = await givenIn(await actingAs('producer')).pendingJob()

    expect(await askRow(await actingAs('viewer'), 'select id, state from holdfast.jobs')).toEqual({
      id,
      state: 'pending',
    })
  })
})

describe('a caller that tries to be clever', () => {
  test.each(['job', 'ready', 'lease', 'outcome', 'job_key', 'queue', 'job_type'])(
    'a temporary table named %s fools no function',
    async (table) => {
      const client = await db.connect()
      await client.query(
        `create temp table ${table} (id bigint, job_id bigint, type text, key text, name text, paused_at timestamptz)`,
      )
      const id = await givenIn(client).pendingJob({ key: 'k' })

      const lease = await givenIn(client).claimed(id)

      expect(await askValue(client, 'select settled from holdfast.complete_jobs($1)', [JSON.stringify([lease])])).toBe(
        true,
      )
      expect(await askValue(client, `select count(*)::int from pg_temp.${table}`)).toBe(0)
    },
  )

  test.each(['uuid', 'jsonb', 'text', 'timestamptz'])(
    'a temporary type named %s does not smuggle code into functions that run as the owner',
    async (type) => {
      const client = await db.connect()
      await client.query('create temp table seen (role name)')
      await client.query('grant insert on seen to public')
      await client.query(
        `create function pg_temp.spy(pg_catalog.${type}) returns boolean language plpgsql
           as $$ begin insert into pg_temp.seen values (current_user); return true; end $$`,
      )
      await client.query(`create domain pg_temp.${type} as pg_catalog.${type} check (pg_temp.spy(value))`)

      const lease = await givenIn(client).runningJob({ key: 'k', tags: ['t'] })
      await ask(client, 'select * from holdfast.renew_leases($1)', [JSON.stringify([lease])])
      await ask(client, 'select * from holdfast.fail_jobs($1)', [JSON.stringify([lease])])
      await ask(client, 'select * from holdfast.find_job($1)', [lease.job_id])

      expect(await askList(client, 'select role from pg_temp.seen')).toEqual([])
    },
  )

  test('a search path of its own changes nothing', async () => {
    const client = await db.connect()
    await client.query('set search_path = pg_temp, holdfast, public')
    const id = await givenIn(client).pendingJob()

    expect(await askValue(client, 'select state from holdfast.find_job($1)', [id])).toBe('pending')
  })
})
