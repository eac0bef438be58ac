// The pool's connections: used again after a refusal, replaced after a fault, closed at the end.
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { OWN_SESSION } from '../../src/store/connection/capabilities.js'
import type { Database } from '../../src/store/connection/connection.js'
import { openAddress, usePool } from '../../src/store/connection/server.js'
import { ask } from '../support/ask.js'
import { until } from '../support/holdfast.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const OPTIONS = { answerMs: 10_000 }
let database: Database
const open = (maxConnections: number) => {
  const address = { connectionString: db.whole.adminUrl, application_name: 'pooled' }
  database = openAddress(address, OWN_SESSION, maxConnections)
}
afterEach(() => database.close())

async function backend(): Promise<number> {
  const { rows } = await database.prepared('select pg_backend_pid() as pid', [], OPTIONS)
  return rows[0]?.pid as number
}

/** A call that waits for a lock until `unlock` is called. */
async function blockedCall() {
  const locker = await db.whole.connect('admin')
  await locker.query('begin; select pg_advisory_xact_lock(7)')
  const call = database.prepared('select pg_advisory_xact_lock(7)', [], OPTIONS)
  call.catch(() => {})
  const waiting = `select from pg_locks where locktype = 'advisory' and not granted`
  await until(async () => (await ask(db.whole.admin, waiting)).length === 1)
  return { call, unlock: () => locker.end() }
}

test('calls one after the other share a connection, simultaneous calls do not wait for one another', async () => {
  open(5)
  const first = await backend()
  expect(await backend()).toBe(first)

  const pids = await Promise.all([backend(), backend(), backend()])

  expect(new Set(pids).size).toBe(3)
})

test('a refused statement does not cost the connection', async () => {
  open(5)
  const first = await backend()

  await expect(database.prepared('select 1 / $1::int', [0], OPTIONS)).rejects.toThrow('division by zero')

  expect(await backend()).toBe(first)
})

test('a connection that the server ends is replaced, whether it is idle or in use', async () => {
  open(5)
  const first = await backend()
  await db.whole.admin.query('select pg_terminate_backend($1, 10000)', [first])
  const second = await backend().catch(() => backend())
  expect(second).not.toBe(first)

  const { call, unlock } = await blockedCall()
  await ask(db.whole.admin, `select pg_terminate_backend(${second})`)
  await expect(call).rejects.toThrow()
  await unlock()
  expect([first, second]).not.toContain(await backend())
})

test('a setting or role of a transaction ends with it; prepared statements and the address’s own settings stay', async () => {
  const options = '-c statement_timeout=90s -c role=pg_monitor'
  database = openAddress({ connectionString: db.whole.adminUrl, options }, OWN_SESSION, 1)
  const state = `select pg_backend_pid() as pid, current_setting('statement_timeout') as ms, current_user as role,
    (select count(*)::integer from pg_prepared_statements where name like 'holdfast%') as prepared`
  const before = (await database.prepared(state, [], OPTIONS)).rows[0]

  await database.transaction(async (tx) => {
    await tx.query(`set statement_timeout = '1s'`)
    await tx.query('set role none')
  })

  expect(before).toMatchObject({ ms: '90s', role: 'pg_monitor' })
  expect((await database.prepared(state, [], OPTIONS)).rows[0]).toEqual({ ...before, prepared: 1 })
})

test('a transaction leaves the settings of the application’s own pool alone', async () => {
  open(1)
  const pool = new pg.Pool({ connectionString: db.whole.adminUrl, max: 1 })
  const shared = await usePool(pool, { pooler: false })
  await pool.query(`set statement_timeout = '80s'`)

  await shared.transaction((tx) => tx.query('select 1'))

  expect((await pool.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '80s' }])
  await pool.end()
})

test.each([
  ['a refused HTTP request', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['a reset of another socket', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
  ['another database that is down', Object.assign(new Error('terminating'), { code: '57P01', severity: 'FATAL' })],
  ['a text about time', new Error('The request timeout was reached')],
  ['a text about connections', new Error('Connection to the mail server terminated')],
])('%s in a transaction is no fault of the connection, which stays', async (_, thrown) => {
  open(1)
  const first = await backend()

  await expect(database.transaction(() => Promise.reject(thrown))).rejects.toBe(thrown)

  expect(await backend()).toBe(first)
})

test('a connection that breaks in a transaction is replaced, whatever the caller makes of the error', async () => {
  open(1)
  const first = await backend()

  const broken = database.transaction(async (tx) => {
    await tx.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
    throw new Error('something else')
  })

  await expect(broken).rejects.toThrow('something else')
  expect(await backend()).not.toBe(first)
})

test('close leaves no connection, also while a call runs', async () => {
  open(5)
  const calling = backend()
  await database.close()
  await calling

  const left = `select from pg_stat_activity where application_name = 'pooled' and datname = current_database()`
  await until(async () => (await ask(db.whole.admin, left)).length === 0)
  open(1)
})

test('a pool of the application gets all its connections back and stays open', async () => {
  open(1)
  const pool = new pg.Pool({ connectionString: db.whole.adminUrl, max: 2 })
  const shared = await usePool(pool, { pooler: false })
  await shared.prepared('select 1', [], OPTIONS)
  await shared.close()

  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})
