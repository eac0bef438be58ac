// Bringing a database to this program's schema, and refusing one that does not fit.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createHoldfast, defineJob } from '../../src/index.js'
import { schemaStatus } from '../../src/store/schema/check-schema.js'
import { migrate } from '../../src/store/schema/migrate.js'
import { readMigrations } from '../../src/store/schema/sql-files.js'
import { ask, askList, askValue } from '../support/ask.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const SCHEMAS = ['jobs_two', 'user']
const contract = defineJob({ type: 'task' })

afterEach(async () => {
  for (const schema of SCHEMAS) {
    await ask(db.admin, `drop schema if exists "${schema}" cascade`)
    for (const role of ['producer', 'worker', 'operator', 'viewer']) {
      await ask(db.admin, `drop role if exists ${schema}_${role}`)
    }
  }
})

const migrateTwo = async () => migrate(await db.connect('admin'), { schema: 'jobs_two' })
const names = async () => (await readMigrations('holdfast')).map(({ name }) => name)
const schemaExists = (schema: string) => askValue(db.admin, 'select to_regnamespace($1) is not null', [`"${schema}"`])

/** What a program gets that opens the schema as it is. */
async function opening(schema: string): Promise<unknown> {
  await using holdfast = createHoldfast({ database: db.whole.adminUrl, schema, jobs: [contract] })
  return await holdfast.enqueue(contract, {}).then(
    ({ id }) => id,
    (error: unknown) => error,
  )
}

test('an empty database gets every migration', async () => {
  const session = await db.connect('admin')
  expect(await schemaStatus(session, { schema: 'jobs_two' })).toEqual({
    schema: 'jobs_two',
    revision: null,
    missing: await names(),
  })

  const report = await migrateTwo()

  expect(report).toMatchObject({ schema: 'jobs_two', applied: await names() })
  expect(await schemaStatus(session, { schema: 'jobs_two' })).toMatchObject({ revision: report.revision, missing: [] })
  expect(await opening('jobs_two')).toMatch(/^\d+$/)
})

test('migrating again changes nothing and keeps the jobs', async () => {
  await migrateTwo()
  const id = await askValue(db.admin, `select jobs_two.enqueue('task', '{}')`)

  const again = await migrateTwo()

  expect(again.applied).toEqual([])
  expect(await askList(db.admin, 'select id from jobs_two.jobs')).toEqual([id])
})

test('two migrations at once both end well, and one of them did the work', async () => {
  const reports = await Promise.all([migrateTwo(), migrateTwo(), migrateTwo()])

  expect(reports.map(({ applied }) => applied.length).sort()).toEqual([0, 0, (await names()).length])
})

test('a migration that fails leaves nothing behind', async () => {
  await ask(
    db.admin,
    `create function public.refuse_functions() returns event_trigger language plpgsql as $$
     begin raise exception 'no functions today'; end $$`,
  )
  await ask(
    db.admin,
    `create event trigger refuse_functions on ddl_command_end when tag in ('CREATE FUNCTION')
     execute function public.refuse_functions()`,
  )
  try {
    await expect(migrateTwo()).rejects.toThrow('no functions today')

    expect(await schemaExists('jobs_two')).toBe(false)
  } finally {
    await ask(db.admin, 'drop event trigger refuse_functions; drop function public.refuse_functions()')
  }
  expect((await migrateTwo()).applied).toEqual(await names())
})

describe('a schema made from another text of a migration', () => {
  const refusal = {
    code: 'MIGRATION_CHANGED',
    message: expect.stringMatching(
      /another text of 0001_initial.*`drop schema "jobs_two" cascade`.*`npx holdfast migrate --schema jobs_two`$/,
    ),
    details: { schema: 'jobs_two', migration: '0001_initial', found: 'other' },
  }

  beforeEach(async () => {
    await migrateTwo()
    await ask(db.admin, `update jobs_two.migration set checksum = 'other' where revision = 1`)
  })

  test('is refused by a program that opens it, that migrates it, and that plans to', async () => {
    expect(await opening('jobs_two')).toMatchObject(refusal)
    await expect(migrateTwo()).rejects.toMatchObject(refusal)
    await expect(schemaStatus(await db.connect('admin'), { schema: 'jobs_two' })).rejects.toMatchObject(refusal)
  })

  test('is refused for its text also where it has more migrations than the program knows', async () => {
    await ask(db.admin, `select jobs_two.record_migration(9999, '9999_later', 'sum')`)

    expect(await opening('jobs_two')).toMatchObject(refusal)
  })

  test('is made again as the refusal says', async () => {
    const [drop = ''] = /drop schema [^`]+/.exec(((await opening('jobs_two')) as Error).message) ?? []
    await ask(db.admin, drop)
    await migrateTwo()

    expect(await opening('jobs_two')).toMatch(/^\d+$/)
  })
})

test('a database without the schema is refused with the command that makes it', async () => {
  expect(await opening('jobs_two')).toMatchObject({
    code: 'SCHEMA_MISSING',
    message: expect.stringContaining('npx holdfast migrate --schema jobs_two'),
    details: { schema: 'jobs_two' },
  })
})

test('a schema that the role may not use is refused as missing', async () => {
  await migrateTwo()
  await using holdfast = createHoldfast({ database: db.whole.url, schema: 'jobs_two', jobs: [contract] })

  await expect(holdfast.enqueue(contract, {})).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
})

test('a schema older than the program is refused with the command that repairs it', async () => {
  const { revision } = await migrateTwo()
  await ask(db.admin, 'update jobs_two.migration set revision = revision - 1000 where revision = $1', [revision])

  expect(await opening('jobs_two')).toMatchObject({
    code: 'SCHEMA_OUTDATED',
    message: expect.stringContaining('npx holdfast migrate --schema jobs_two'),
    details: { needed: revision },
  })
})

test('a schema newer than the program is refused with what to update', async () => {
  const { revision } = await migrateTwo()
  await ask(db.admin, `select jobs_two.record_migration(9999, '9999_later', 'sum')`)
  const refusal = {
    code: 'SCHEMA_TOO_NEW',
    message: expect.stringContaining('update the holdfast package'),
    details: { found: 9999, needed: revision },
  }

  expect(await opening('jobs_two')).toMatchObject(refusal)
  await expect(migrateTwo()).rejects.toMatchObject(refusal)
})

test.each(['Holdfast', 'a-b', '1st', '', 'a"b', 'pg_jobs', 'public', 'a'.repeat(41), 'x; drop schema public'])(
  'the schema name %j is refused',
  async (schema) => {
    await expect(migrate(db.admin, { schema })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    expect(() => createHoldfast({ schema, jobs: [] })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  },
)

test('a Holdfast migrates its own database on request, opened or not', async () => {
  await using holdfast = createHoldfast({ database: db.whole.adminUrl, schema: 'jobs_two', jobs: [contract] })

  expect((await holdfast.migrate()).applied).toEqual(await names())
  await holdfast.enqueue(contract, {})
  expect((await holdfast.migrate()).applied).toEqual([])
})

test('with migrate: true the first call brings the schema along', async () => {
  await using holdfast = createHoldfast({
    database: db.whole.adminUrl,
    schema: 'jobs_two',
    migrate: true,
    jobs: [contract],
  })

  await holdfast.enqueue(contract, {})

  expect(await askList(db.admin, 'select type from jobs_two.jobs')).toEqual(['task'])
})

test('two schemas in one database, one with a name that SQL reserves, know nothing of each other', async () => {
  const echo = defineJob({ type: 'echo', run: (input: unknown) => input })
  await using plain = createHoldfast({ database: db.whole.url, jobs: [echo], grace: 0 })
  await using reserved = createHoldfast({
    database: db.whole.adminUrl,
    schema: 'user',
    migrate: true,
    jobs: [echo],
    grace: 0,
  })
  const told: string[] = []
  const listener = await db.connect('admin')
  listener.on('notification', ({ channel }) => told.push(channel))
  await listener.query('listen holdfast_wake; listen user_wake')
  const untouched = await plain.enqueue(echo, 'plain')

  await reserved.start()
  const handle = await reserved.enqueue(echo, 'reserved')
  expect(await handle.result()).toBe('reserved')
  await listener.query(`select "user".retry_job($1)`, [handle.id])
  expect(await handle.result()).toBe('reserved')

  expect(await untouched.read()).toMatchObject({ state: 'pending', attempts: 0 })
  expect(await askList(db.admin, 'select id from holdfast.worker')).toEqual([])
  expect(await askList(db.admin, 'select array_length(queues, 1) from "user".worker')).toEqual([1])
  expect(new Set(told)).toEqual(new Set(['user_wake']))
  await plain.start()
  expect(await untouched.result()).toBe('plain')
  expect(await askValue(db.admin, 'select count(*)::integer from "user".job')).toBe(1)
  expect(await askList(db.admin, 'select * from "user".check_places()')).toEqual([])
})
