// Opening what the user named as database, and saying well why it cannot be opened.
import { createServer } from 'node:net'
import { inspect } from 'node:util'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createHoldfast, defineJob } from '../../src/index.js'
import { listenWith } from '../../src/store/connection/listening.js'
import { Store } from '../../src/store/store.js'
import { ask, askValue } from '../support/ask.js'
import { until } from '../support/holdfast.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const contract = defineJob({ type: 'task' })

/** What is thrown by the first call, with all that a logger would print of it. */
async function refusalOf(database: string) {
  await using holdfast = createHoldfast({ database, jobs: [contract] })
  const error = await holdfast.enqueue(contract, {}).catch((thrown: unknown) => thrown)
  return { error, printed: inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) }
}

test.each([
  'not a url',
  'postgres//user:s3cret@host/db',
  'postgres://user:s3cret@host:port/db',
  'postgres://user:s3cr/s3cret@host:port/db',
  'postgres://user:p@s3cret@ho st/db',
  'host=localhost password=s3cret dbname=x',
  'mysql://user:s3cret@host/db',
  'memory:',
  '',
])('the database %j is refused with INVALID_OPTION and its password is not shown', async (database) => {
  const { error, printed } = await refusalOf(database)

  expect(error).toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining('postgres://') })
  expect(printed).not.toContain('s3cret')
})

test('what is no database at all is refused', async () => {
  for (const database of [{}, 7, () => {}, []]) {
    const holdfast = createHoldfast({ database: database as unknown as string, jobs: [contract] })

    await expect(holdfast.enqueue(contract, {})).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  }
})

test('a server that cannot be reached is CONNECTION_FAILED, for every operation, without the password', async () => {
  const port = await unusedPort()
  const database = `postgres://user:s3cret@localhost:${port}/db`
  await using holdfast = createHoldfast({ database, jobs: [contract] })

  const { error, printed } = await refusalOf(database)

  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', message: expect.stringContaining('ECONNREFUSED') })
  expect(printed).not.toContain('s3cret')
  await expect(holdfast.start()).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  await expect(holdfast.migrate()).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  await expect(holdfast.find(1)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
})

test('a wrong password is refused without showing it', async () => {
  const url = new URL(db.whole.url)
  url.password = 's3cret'

  const { error, printed } = await refusalOf(url.href)

  expect(error).toBeInstanceOf(Error)
  expect(printed).not.toContain('s3cret')
})

test('an opening that failed is tried again by the next call', async () => {
  let port = await unusedPort()
  const pool = new pg.Pool({ ...connectionOf(db.whole.url), port })
  const holdfast = createHoldfast({ database: pool, jobs: [contract] })
  await expect(holdfast.enqueue(contract, {})).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })

  port = Number(new URL(db.whole.url).port)
  pool.options.port = port

  expect((await holdfast.enqueue(contract, {})).type).toBe('task')
  await holdfast.close()
  await pool.end()
})

test('callers that come at once share one opening', async () => {
  const store = new Store({ database: db.whole.url })

  const [one, two] = await Promise.all([store.open(), store.open()])

  expect(one).toBe(two)
  await store.close()
})

test('after close nothing is opened again', async () => {
  const holdfast = createHoldfast({ database: db.whole.url, jobs: [contract] })
  await holdfast.enqueue(contract, {})

  await holdfast.close()

  await expect(holdfast.enqueue(contract, {})).rejects.toMatchObject({
    code: 'CONNECTION_FAILED',
    message: 'this Holdfast is closed',
  })
})

test('a connection that is ended while a transaction holds it spoils that transaction and nothing else', async () => {
  const store = new Store({ database: db.whole.url, maxConnections: 1 })
  const database = await store.open()

  const broken = database.transaction(async (tx) => {
    const { rows } = await tx.query('select pg_backend_pid() as pid')
    // The client hears of it while nothing is asked.
    const ended = new Promise((resolve) => tx.once('end', resolve))
    expect(await askValue(db.admin, 'select pg_terminate_backend($1)', [rows[0]?.pid])).toBe(true)
    await ended
    await tx.query('select 1')
  })

  await expect(broken).rejects.toThrow()
  expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await store.close()
})

test('a transaction that throws is rolled back and its connection used again', async () => {
  const store = new Store({ database: db.whole.url, maxConnections: 1 })
  const database = await store.open()
  const pid = async () => (await database.query('select pg_backend_pid() as pid')).rows[0]?.pid
  const before = await pid()

  await expect(
    database.transaction(async (tx) => {
      await tx.query(`select holdfast.enqueue('task', '{}')`)
      throw new Error('no')
    }),
  ).rejects.toThrow('no')

  expect(await pid()).toBe(before)
  expect(await ask(db.admin, 'select id from holdfast.job')).toEqual([])
  await store.close()
})

test('a channel that cannot be heard leaves no connection behind', async () => {
  const client = new pg.Client({ connectionString: db.whole.url, application_name: 'deaf' })

  const listening = listenWith(
    client,
    '',
    () => {},
    () => {},
  )

  await expect(listening).rejects.toMatchObject({ code: '42601' })
  await until(
    async () => (await ask(db.admin, `select 1 from pg_stat_activity where application_name = 'deaf'`)).length === 0,
  )
})

function connectionOf(url: string): pg.PoolConfig {
  const { hostname, username, password, pathname } = new URL(url)
  return { host: hostname, user: username, password, database: pathname.slice(1) }
}

/** A port that somebody had a moment ago and nobody has now. */
function unusedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
