// Calls of statements that a session keeps: what comes back, what is sent, and what a fault leaves behind.
import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { OWN_SESSION } from '../../src/store/connection/capabilities.js'
import { callPrepared, type Row } from '../../src/store/connection/prepared-call.js'
import { openAddress, openServer, usePool } from '../../src/store/connection/server.js'
import { ask } from '../support/ask.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const clients: pg.Client[] = []
async function connect(config: pg.ClientConfig & { pipeline?: boolean } = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: db.whole.adminUrl, ...config })
  await client.connect()
  clients.push(client)
  return client
}
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(clients.splice(0).map((client) => client.end()))
})

const rowsOf = (client: pg.ClientBase, text: string, values: unknown[] = [], name: string | undefined = 'kept') =>
  new Promise<Row[]>((resolve, reject) => {
    callPrepared(client, { name, text }, values, (error, rows) => (error ? reject(error) : resolve(rows ?? [])))
  })

/** The kinds of messages that leave for the server from now on. */
function messagesOf(client: pg.Client): string[] {
  const { connection } = client as unknown as { connection: Record<string, (...args: unknown[]) => unknown> }
  const sent: string[] = []
  for (const kind of ['parse', 'describe', 'bind', 'execute', 'sync']) {
    const really = connection[kind]?.bind(connection)
    connection[kind] = (...args) => {
      sent.push(kind)
      return really?.(...args)
    }
  }
  return sent
}

const OPTIONS = { answerMs: 10_000 }
const EVERY_KIND = `select $1::text as a, $2::int as b, $3::bigint as c, $4::boolean as d, $5::timestamptz as e, $6::json as f,
  $7::text[] as g, $8::numeric as h, $9::uuid as i, null::text as j, $10::smallint[] as k, $11::real as l
  from generate_series(1, 2)`
const VALUES = [
  'ä 🐘 "quoted" \\',
  7,
  '9007199254740993',
  true,
  new Date(0),
  '{"a":[1,null]}',
  ['x', 'y, "z"', null],
  '1.50',
  '6f0c1d2e-0000-4000-8000-000000000001',
  [1, 2],
  0.5,
]

test('rows are those that the driver itself gives, at the first call and at later ones', async () => {
  const client = await connect()
  const { rows: expected } = await client.query(EVERY_KIND, VALUES)
  expect(expected).toHaveLength(2)

  expect(await rowsOf(client, EVERY_KIND, VALUES)).toEqual(expected)
  expect(await rowsOf(client, EVERY_KIND, VALUES)).toEqual(expected)
  expect(await rowsOf(client, 'select 1 where false', [], 'none')).toEqual([])
})

test('what its rows look like is asked once in a session, and again where no session keeps it', async () => {
  const client = await connect()
  const sent = messagesOf(client)
  await rowsOf(client, 'select 1 as one')
  expect(sent.splice(0)).toEqual(['parse', 'describe', 'bind', 'execute', 'sync'])
  await rowsOf(client, 'select 1 as one')
  expect(sent.splice(0)).toEqual(['bind', 'execute', 'sync'])

  for (const n of [2, 3]) {
    expect(await rowsOf(client, `select ${n} as n`, [], '')).toEqual([{ n }])
    expect(sent.splice(0)).toEqual(['parse', 'describe', 'bind', 'execute', 'sync'])
  }
})

test('a statement that another has prepared in the session under its name is used', async () => {
  const client = await connect()
  await client.query({ name: 'kept', text: 'select 1 as one', values: [] })

  expect(await rowsOf(client, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('a refusal is told, and costs neither the session nor the statement', async () => {
  const client = await connect()
  const divide = 'select 6 / $1::int as n'
  await expect(rowsOf(client, divide, [0])).rejects.toThrow('division by zero')
  const sent = messagesOf(client)
  expect(await rowsOf(client, divide, [2])).toEqual([{ n: 3 }])
  expect(sent).toEqual(['bind', 'execute', 'sync'])

  await expect(rowsOf(client, 'select nothing', [], 'wrong')).rejects.toMatchObject({ code: '42703' })
  await client.query('create temp view nothing as select 4 as n')
  expect(await rowsOf(client, 'select n from nothing', [], 'wrong')).toEqual([{ n: 4 }])
})

test('a row that the application’s own parser refuses is told as a fault, and the session goes on', async () => {
  const types = {
    getTypeParser: (oid: number) => (value: string) => {
      if (oid === 23) throw new Error('no numbers here')
      return value
    },
  } as unknown as pg.CustomTypesConfig
  const client = await connect({ types })

  await expect(rowsOf(client, 'select 1 as n')).rejects.toThrow('no numbers here')
  expect(await rowsOf(client, 'select true as b', [], 'other')).toEqual([{ b: 't' }])
})

test('a client that sends queries before the last is answered has its own way', async () => {
  const client = await connect({ pipeline: true })

  expect(await Promise.all([1, 2, 3].map((n) => rowsOf(client, 'select $1::int as n', [n])))).toEqual(
    [1, 2, 3].map((n) => [{ n }]),
  )
})

test('a refusal by a proxy in front of the client reaches the caller', async () => {
  const client = await connect()
  Object.assign(client, { query: async () => Promise.reject(new Error('not now')) })

  await expect(rowsOf(client, 'select 1')).rejects.toThrow('not now')
})

test('a session that has forgotten its statements costs no answer', async () => {
  const pool = new pg.Pool({ connectionString: db.whole.adminUrl, max: 1 })
  const database = await usePool(pool, { pooler: false })
  await database.prepared('select 1 as n', [], OPTIONS)
  await pool.query('deallocate all')

  expect((await database.prepared('select 1 as n', [], OPTIONS)).rows).toEqual([{ n: 1 }])
  expect((await database.prepared('select 1 as n', [], OPTIONS)).rows).toEqual([{ n: 1 }])
  await pool.end()
})

test('what cannot wait is done before the promise is, on a connection that is free again', async () => {
  const database = openAddress({ connectionString: db.whole.adminUrl }, OWN_SESSION, 5)
  const pid = 'select pg_backend_pid() as pid'
  const order: string[] = []
  let inside: Promise<{ rows: Row[] }> | undefined
  const onAnswer = () => {
    order.push('acted')
    inside = database.prepared(pid, [], OPTIONS)
  }
  const asked = database.prepared(pid, [], { ...OPTIONS, onAnswer })
  const { rows } = await asked.finally(() => order.push('answered'))

  expect((await inside)?.rows).toEqual(rows)
  expect(order).toEqual(['acted', 'answered'])
  const failing = () => {
    throw new Error('while acting')
  }
  await expect(database.prepared(pid, [], { ...OPTIONS, onAnswer: failing })).rejects.toThrow('while acting')
  expect((await database.prepared(pid, [], OPTIONS)).rows).toEqual(rows)
  await database.close()
})

/** A session that asks for the lock waits until `go` is called. */
async function heldLock() {
  const locker = await connect()
  await locker.query('select pg_advisory_lock(7)')
  const waiting = `select from pg_locks where locktype = 'advisory' and not granted`
  return {
    // Without a timer: the tests have those in hand.
    async awaited() {
      while ((await ask(db.whole.admin, waiting)).length === 0);
    },
    go: () => locker.query('select pg_advisory_unlock(7)'),
  }
}

test('an answer that does not come is given up, and the connection with it', async () => {
  const lock = await heldLock()
  const database = openAddress({ connectionString: db.whole.adminUrl }, OWN_SESSION, 1)
  const pid = 'select pg_backend_pid() as pid'
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { rows: before } = await database.prepared(pid, [], OPTIONS)
  const asked = database.prepared('select pg_advisory_xact_lock(7)', [], OPTIONS)
  const refusal = expect(asked).rejects.toThrow('timeout: no answer within 10000 ms')
  await lock.awaited()

  vi.advanceTimersByTime(11_000)
  await refusal
  expect((await database.prepared(pid, [], OPTIONS)).rows).not.toEqual(before)
  await lock.go()
  await database.close()
})

test.each(['transaction', 'session'] as const)('a statement in a %s may take as long as it needs', async (kind) => {
  const lock = await heldLock()
  const database = await openServer(db.whole.adminUrl, { pooler: false })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const asked = database[kind]((client) => client.query('select 1 as n from pg_advisory_xact_lock(7)'))
  await lock.awaited()

  vi.advanceTimersByTime(600_000)
  await lock.go()
  expect((await asked).rows).toEqual([{ n: 1 }])
  await database.close()
})
