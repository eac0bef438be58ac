// The connections that callers and claims keep: theirs while they ask, everybody's where there is no other.
import pg from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { OWN_SESSION } from '../../src/store/connection/capabilities.js'
import type { Database } from '../../src/store/connection/connection.js'
import type { KeptFor } from '../../src/store/connection/kept-connections.js'
import { openAddress, usePool } from '../../src/store/connection/server.js'
import { ask } from '../support/ask.js'
import { until } from '../support/holdfast.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
let database: Database
const open = (maxConnections: number) => {
  database = openAddress(
    { connectionString: db.whole.adminUrl, application_name: 'callers' },
    OWN_SESSION,
    maxConnections,
  )
}
afterEach(() => database.close())

async function backend(keptFor?: KeptFor): Promise<number> {
  const { rows } = await database.prepared('select pg_backend_pid() as pid', [], { answerMs: 10_000, keptFor })
  return rows[0]?.pid as number
}
const asCaller = () => backend('callers')
const asClaim = () => backend('claims')
const asWorker = () => backend()

/** A call that is under way until `go` is called, and then over. */
async function longCall() {
  const locker = await db.whole.connect('admin')
  await locker.query('begin; select pg_advisory_xact_lock(7)')
  const over = database.prepared('select pg_advisory_xact_lock(7)', [], { answerMs: 10_000, keptFor: 'callers' })
  over.catch(() => {})
  const waiting = `select from pg_locks where locktype = 'advisory' and not granted`
  await until(async () => (await ask(db.whole.admin, waiting)).length === 1)
  return { over, go: () => locker.end() }
}

test('callers have one connection, and what the worker asks goes to another', async () => {
  open(5)
  const kept = await asCaller()

  const others = [await asWorker(), await asWorker(), await database.session(async () => asWorker())]
  expect(others).not.toContain(kept)
  expect([await asCaller(), await asCaller()]).toEqual([kept, kept])
})

test('claims have one of their own, whatever else is asked in between', async () => {
  open(5)
  const kept = await asClaim()

  const others = [await asWorker(), await asCaller(), await asWorker()]
  expect(others).not.toContain(kept)
  expect([await asClaim(), await asClaim()]).toEqual([kept, kept])
})

test('callers and claims with two connections leave one another what there is', async () => {
  open(2)
  const [caller, claim] = [await asCaller(), await asClaim()]
  expect(claim).not.toBe(caller)

  expect([caller, claim]).toContain(await asWorker())
  await database.session(async () => {
    const left = await asWorker()
    expect([await asCaller(), await asClaim()]).toEqual([left, left])
  })
  expect(new Set([await asCaller(), await asClaim()]).size).toBe(2)
})

test('callers that ask at the same time do not wait for one another', async () => {
  open(5)
  const kept = await asCaller()

  const pids = await Promise.all([asCaller(), asCaller(), asCaller()])

  expect(new Set(pids).size).toBe(3)
  expect(pids).toContain(kept)
  expect(await asCaller()).toBe(kept)
})

test('where the pool has nothing left, everybody uses the callers’ connection', async () => {
  open(2)
  const kept = await asCaller()

  await database.session(async () => {
    expect(await asWorker()).toBe(kept)
    expect(await asCaller()).toBe(kept)
  })
  let inside = 0
  const meet = () =>
    database.session(async () => {
      inside += 1
      await until(async () => inside === 2)
    })
  await Promise.all([meet(), meet()])
})

test('who waits in the pool gets the callers’ connection when a call is over', async () => {
  open(2)
  const kept = await asCaller()
  const call = await longCall()

  await database.session(async () => {
    const waiting = asWorker()
    await call.go()
    await call.over
    expect(await waiting).toBe(kept)
  })
})

test('when nobody has called for a while, the pool has the connection again, with its session', async () => {
  open(5)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const kept = await asCaller()
  expect(await asWorker()).not.toBe(kept)
  vi.advanceTimersByTime(4900)
  expect(await asCaller()).toBe(kept)
  vi.advanceTimersByTime(4900)
  expect(await asWorker()).not.toBe(kept)

  vi.advanceTimersByTime(200)
  expect(await asWorker()).toBe(kept)
})

test('one connection is enough for callers and worker', async () => {
  open(1)
  const pid = await asCaller()

  expect([await asWorker(), await asCaller()]).toEqual([pid, pid])
})

test('a connection that the server ends is replaced, whether it is idle or in use', async () => {
  open(5)
  const first = await asCaller()
  await ask(db.whole.admin, `select pg_terminate_backend(${first})`)
  await until(async () => (await ask(db.whole.admin, `select from pg_stat_activity where pid = ${first}`)).length === 0)
  const second = await asCaller().catch(() => asCaller())
  expect(second).not.toBe(first)

  const call = await longCall()
  await ask(db.whole.admin, `select pg_terminate_backend(${second})`)
  await expect(call.over).rejects.toThrow()
  await call.go()
  expect([first, second]).not.toContain(await asCaller())
})

test('a refused statement costs no connection', async () => {
  open(5)
  const kept = await asCaller()
  await expect(database.prepared('select 1 / $1::int', [0], { answerMs: 10_000, keptFor: 'callers' })).rejects.toThrow(
    'division by zero',
  )

  expect(await asCaller()).toBe(kept)
})

test('after close no connection is left, also where a call was under way', async () => {
  open(5)
  await asCaller()
  const calling = asCaller()
  await database.close()
  await calling

  const left = `select from pg_stat_activity where application_name = 'callers' and datname = current_database()`
  await until(async () => (await ask(db.whole.admin, left)).length === 0)
  open(1)
})

test('a pool of the application gets all its connections back', async () => {
  open(1)
  const pool = new pg.Pool({ connectionString: db.whole.adminUrl, max: 2 })
  const shared = await usePool(pool, { pooler: false })
  await shared.prepared('select 1', [], { answerMs: 10_000, keptFor: 'callers' })

  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
  await pool.end()
})
