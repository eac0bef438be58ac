// `holdfast doctor`: each fault it names, staged on a real database, and the line it prints for it.
import { randomUUID } from 'node:crypto'
import { expect, inject, onTestFinished, test } from 'vitest'
import { ask, askValue } from '../support/ask.js'
import { pidOf } from '../support/blocked.js'
import { holdfast } from '../support/command-line.js'
import { givenIn } from '../support/given.js'
import { findPgbouncer, startPgbouncer } from '../support/pgbouncer.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()

interface Diagnosis {
  readonly code: number | null
  readonly lines: readonly string[]
  /** The lines of one check. */
  of(check: string): string[]
}

async function doctor(flags: readonly string[] = [], url = db.whole.adminUrl): Promise<Diagnosis> {
  // The workers live on, however long the command takes to start.
  await ask(db.admin, `update holdfast.worker set heartbeat_at = clock_timestamp() + interval '1 hour'`)
  const { code, stdout, stderr } = await holdfast(['doctor', '--database', url, ...flags])
  expect(stderr).toBe('')
  const lines = stdout.trimEnd().split('\n')
  return { code, lines, of: (check) => lines.filter((line) => line.slice(6).startsWith(`${check}:`)) }
}

const withOptions = (url: string, options: string) => `${url}?options=${encodeURIComponent(options)}`

const register = (id: string, version = '1.0.0') =>
  ask(db.pool, `select holdfast.register_worker_v1($1, 'pod', 1, $2, '{default}', '{known}', 1)`, [id, version])

test('a sound database has one good line for each check, and lets a deploy pass', async () => {
  const { code, lines } = await doctor()

  expect(code).toBe(0)
  expect(lines.filter((line) => !line.startsWith('ok'))).toEqual([])
  expect(lines.map((line) => line.slice(6).split(':')[0])).toEqual([
    'schema',
    'server version',
    'pooler',
    'connections',
    'long transactions',
    'rights',
    'schema drift',
    'invalid indexes',
    'bloat',
    'queues without workers',
    'types without handlers',
    'paused queues',
    'worker versions',
    'clocks',
    'placement',
  ])
})

test('the application’s own role may ask too', async () => {
  expect(await doctor([], db.whole.url)).toMatchObject({ code: 0 })
})

test('a role without the rights is told what could not be looked at', async () => {
  const { code, of } = await doctor([], withOptions(db.whole.adminUrl, '-c role=holdfast_producer'))

  expect(code).toBe(0)
  expect(of('worker versions')).toEqual([
    'warn  worker versions: could not be examined: permission denied for function list_workers_v1',
  ])
  expect(of('schema drift')).toEqual([expect.stringMatching(/^ok/)])
})

test('a database without the schema fails, and what needs it is left out', async () => {
  const { code, lines, of } = await doctor(['--schema', 'nothing_here'])

  expect(code).toBe(1)
  expect(of('schema')).toEqual([expect.stringMatching(/^fail {2}schema: the database has no schema "nothing_here"/)])
  expect(lines.join('\n')).toContain('npx holdfast migrate')
  expect(of('schema drift')).toEqual([])
})

test('a schema made from another text of a migration fails with the statement that drops it', async () => {
  await ask(db.admin, `update holdfast.migration set checksum = 'other' || checksum`)
  onTestFinished(() => ask(db.admin, `update holdfast.migration set checksum = substr(checksum, 6)`).then(() => {}))

  const { code, of } = await doctor()

  expect(code).toBe(1)
  expect(of('schema')).toEqual([expect.stringContaining('`drop schema holdfast cascade`')])
  expect(of('schema drift')).toEqual([])
})

test('a server that is too old fails', async () => {
  await ask(db.admin, 'create schema older')
  await ask(
    db.admin,
    `create function older.current_setting(text) returns text language sql
     as $$ select case $1 when 'server_version' then '14.9' else '140009' end $$`,
  )
  onTestFinished(() => ask(db.admin, 'drop schema older cascade').then(() => {}))

  const { of } = await doctor([], withOptions(db.whole.adminUrl, '-c search_path=older,pg_catalog'))

  expect(of('server version')).toEqual(['fail  server version: PostgreSQL 14.9 is too old'])
})

test('rights that a role lacks, and rights that nobody may have, each fail with the statement that repairs them', async () => {
  await ask(db.admin, 'revoke execute on function holdfast.claim_jobs_v1 from holdfast_worker')
  await ask(db.admin, 'grant insert, delete on holdfast.lease to public')

  const { code, of } = await doctor()
  const { stdout: repair } = await holdfast(['doctor', '--fix-sql', '--database', db.whole.adminUrl])

  expect(code).toBe(1)
  expect(of('rights')).toEqual([
    'fail  rights: holdfast_worker may not call claim_jobs_v1',
    'fail  rights: public may delete, insert on table lease: it can write past every guard',
  ])
  await ask(db.admin, repair)
  expect((await doctor()).code).toBe(0)
})

test('an index that was never finished fails', async () => {
  const given = givenIn(db.pool)
  await given.pendingJob()
  await given.pendingJob()
  onTestFinished(() => ask(db.admin, 'drop index if exists holdfast.broken').then(() => {}))
  await expect(ask(db.admin, 'create unique index concurrently broken on holdfast.job (type)')).rejects.toThrow(
    'broken',
  )

  const { code, of, lines } = await doctor()

  expect(code).toBe(1)
  expect(of('invalid indexes')).toEqual(['fail  invalid indexes: index holdfast.broken on holdfast.job is invalid'])
  expect(lines).toContain('        reindex index concurrently holdfast.broken;')
})

test('a transaction that stays open is named with its pid, its age and its query', async () => {
  const idle = await db.connect('admin')
  const pid = await pidOf(idle)
  await idle.query('begin isolation level repeatable read')
  await idle.query('select 42 as the_answer')

  const { code, of, lines } = await doctor(['--limit', 'transaction=1ms'])
  const strict = await doctor(['--strict', '--limit', 'transaction=1ms'])

  expect(of('long transactions')).toContainEqual(
    expect.stringMatching(
      new RegExp(
        `^warn  long transactions: session ${pid} has been in a transaction for .+ idle in transaction: select 42`,
      ),
    ),
  )
  expect(lines).toContain(`        select pg_terminate_backend(${pid});`)
  expect([code, strict.code]).toEqual([0, 1])
})

test('dead rows that stay, and a table that nobody vacuums', async () => {
  const holder = await db.connect('admin')
  await holder.query('begin isolation level repeatable read')
  await holder.query('select 1')
  const busy = await db.connect('admin')
  await ask(
    busy,
    `select holdfast.enqueue_jobs(jsonb_agg(jsonb_build_object('input', n)), '{"type": "task"}')
                     from generate_series(1, 1500) as n`,
  )
  await ask(busy, `delete from holdfast.ready`)
  await ask(busy, `delete from holdfast.job`)
  await ask(busy, 'select pg_stat_force_next_flush()')

  const { of } = await doctor(['--limit', 'dead-rows=1000'])
  await holder.query('rollback')
  await ask(db.admin, 'alter table holdfast.lease set (autovacuum_enabled = false)')
  const later = await doctor()
  await ask(db.admin, 'alter table holdfast.lease reset (autovacuum_enabled)')

  expect(of('bloat')).toEqual([
    expect.stringMatching(/^warn {2}bloat: "holdfast"\.ready has 1[5-9]\d\d dead rows for 0 living ones \(\d+ MB\)/),
  ])
  expect(later.of('bloat')).toEqual([
    'fail  bloat: autovacuum is off for "holdfast".lease: dead rows of finished jobs stay for ever',
  ])
})

test('connections that run short are told with the limit that is met first', async () => {
  await ask(db.admin, `alter database ${db.whole.name} connection limit 60`)

  const { of } = await doctor(['--limit', 'connections=100'])

  expect(of('connections')).toEqual([
    expect.stringMatching(/^warn {2}connections: \d+ of 60 connections are left \(the limit of this database\)$/),
  ])
})

test('work that nobody does fails, queue by queue and type by type', async () => {
  const given = givenIn(db.pool)
  await register('w')
  await given.pendingJob({ queue: 'lonely', type: 'known' })
  await given.pendingJob({ type: 'unknown' })
  await given.pendingJob({ queue: 'halted', type: 'known' })
  await ask(db.pool, `select holdfast.pause_queue('halted')`)

  const { code, of } = await doctor(['--limit', 'due=0ms'])

  expect(code).toBe(1)
  expect(of('queues without workers')).toEqual([
    expect.stringMatching(
      /^fail .* queue lonely has due jobs of type known \(at least 1, due since .+Z\), and no living worker serves it$/,
    ),
  ])
  expect(of('types without handlers')).toEqual([
    expect.stringMatching(
      /^fail .* queue default has due jobs of type unknown .* no worker of the queue has a handler for it$/,
    ),
  ])
  expect(of('paused queues')).toEqual([
    expect.stringMatching(/^warn .* queue halted is paused and has due jobs of type known/),
  ])
})

test('workers of different versions and clocks that disagree are told', async () => {
  await register('one', '1.0.0')
  await register('two', '1.1.0')
  await ask(db.pool, `select holdfast.report_load_v1('two', true, 0, clock_timestamp() - interval '1 hour')`)

  const { of } = await doctor()
  const early = await doctor([], withOptions(db.whole.adminUrl, '-c holdfast.fake_now=2090-01-01T00:00:00Z'))

  expect(of('worker versions')).toEqual([
    'warn  worker versions: workers run different versions: 1.0.0 on 1, 1.1.0 on 1',
  ])
  expect(of('clocks')).toEqual([
    expect.stringMatching(/^warn {2}clocks: the clock of two is 3\d\d\d\.\d s behind the database’s$/),
  ])
  expect(early.of('clocks')).toEqual([
    expect.stringMatching(/^warn {2}clocks: the clock of this machine is \d+\.\d s behind/),
  ])
})

test('a service whose jobs have outgrown it is told to move them', async () => {
  await register('web')
  await ask(db.pool, `select holdfast.record_heartbeat_v1('web', $1)`, [5 * 2 ** 30])
  await ask(db.pool, `select holdfast.report_load_v1('web', false, 250, clock_timestamp())`)
  const { job_id: step } = await givenIn(db.pool).finishedJob('completed', { pipeline_id: randomUUID() })
  await ask(db.admin, `update holdfast.outcome set run_at = locked_at - interval '3 seconds' where job_id = $1`, [step])

  const { of, lines } = await doctor(['--limit', 'jobs-per-minute=0'])

  expect(of('placement')).toEqual([
    'warn  placement: the event loop of web is late by 250 ms (99th percentile): every request of that service waits as long',
    'warn  placement: web uses 5120 MB of memory, more than 4096',
    'warn  placement: 0.2 jobs a minute run inside a service, more than 0',
    'warn  placement: steps of pipelines wait 3000 ms from due to claimed (95th percentile)',
  ])
  expect(lines.filter((line) => line.includes('npx holdfast worker'))).toHaveLength(3)
})

test.skipIf(findPgbouncer() === undefined)(
  'a pooler in transaction mode is named, with what it takes away',
  async () => {
    const login = { user: inject('appUser'), password: inject('appPassword') }
    const { url, close } = await startPgbouncer(inject('adminUrl'), [login])
    onTestFinished(close)
    const through = new URL(db.whole.url)
    through.host = new URL(url).host

    const { code, of } = await doctor([], through.href)

    expect(code).toBe(0)
    expect(of('pooler')).toEqual([
      'warn  pooler: a pooler in transaction mode stands before the server: no LISTEN, session locks, prepared statements. Workers poll every second, and a dead one is missed after 10 s instead of 3',
    ])
  },
)

test('--json says the same to a program, and a limit that does not exist is refused', async () => {
  const { stdout } = await holdfast(['doctor', '--json', '--database', db.whole.adminUrl])
  const refused = await holdfast(['doctor', '--limit', 'patience=1s', '--database', db.whole.adminUrl])

  expect(JSON.parse(stdout)).toMatchObject({
    isSound: true,
    findings: expect.arrayContaining([{ check: 'invalid indexes', verdict: 'ok', text: 'every index is valid' }]),
  })
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('one of transaction, due, clock') })
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.worker')).toBe(0)
})
