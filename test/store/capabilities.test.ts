// What a session may rely on is found out when a database is opened: all of it on a server, none of it behind a pooler that
// hands sessions on.
import { expect, inject, onTestFinished, test } from 'vitest'
import { createHoldfast, defineJob } from '../../src/index.js'
import { Store } from '../../src/store/store.js'
import { ask } from '../support/ask.js'
import { until } from '../support/holdfast.js'
import { findPgbouncer, startPgbouncer } from '../support/pgbouncer.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const ALL = { listen: true, sessionLocks: true, preparedStatements: true }
const NONE = { listen: false, sessionLocks: false, preparedStatements: false }
const hasPgbouncer = findPgbouncer() !== undefined

async function capabilitiesOf(options: ConstructorParameters<typeof Store>[0]) {
  const store = new Store(options)
  try {
    return (await store.open()).capabilities
  } finally {
    await store.close()
  }
}

/** The test's own database through PgBouncer in transaction mode, with that many sessions. */
async function throughPgbouncer(sessions: number): Promise<string> {
  const login = { user: inject('appUser'), password: inject('appPassword') }
  const { url, close } = await startPgbouncer(inject('adminUrl'), [login], sessions)
  onTestFinished(close)
  const own = new URL(db.whole.url)
  own.host = new URL(url).host
  return own.href
}

test('a server keeps everything in its sessions', async () => {
  expect(await capabilitiesOf({ database: db.whole.url })).toEqual(ALL)
  expect(await capabilitiesOf({ database: db.pool })).toEqual(ALL)
})

test('what is said is not asked for', async () => {
  expect(await capabilitiesOf({ database: db.whole.url, pooler: true })).toEqual(NONE)
  expect(await capabilitiesOf({ database: db.whole.url, preparedStatements: false })).toEqual({
    ...ALL,
    preparedStatements: false,
  })
})

test.skipIf(!hasPgbouncer).each([1, 5])('a pooler with %i sessions is found', async (sessions) => {
  expect(await capabilitiesOf({ database: await throughPgbouncer(sessions) })).toEqual(NONE)
})

test.skipIf(!hasPgbouncer)(
  'behind a pooler that nobody found statements stop being named, and none is lost',
  async () => {
    const database = await throughPgbouncer(3)
    const contract = defineJob({ type: 'task' })
    await using one = createHoldfast({ database, pooler: false, jobs: [contract] })
    await using other = createHoldfast({ database, pooler: false, jobs: [contract] })

    const handles = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 ? one : other).enqueue(contract, { n })),
    )

    expect(new Set(handles.map(({ id }) => id)).size).toBe(40)
    expect(await ask(db.admin, 'select count(*)::int as jobs from holdfast.jobs')).toEqual([{ jobs: 40 }])
  },
)

test.skipIf(!hasPgbouncer)('a worker behind a pooler runs jobs, holds no lock, and hears nothing', async () => {
  const database = await throughPgbouncer(5)
  const echo = defineJob({ type: 'echo', run: async (input) => input })
  await using holdfast = createHoldfast({ database, jobs: [echo], grace: 0 })
  await holdfast.start()

  const handle = await holdfast.enqueue(echo, { n: 1 })

  expect(await handle.result()).toEqual({ n: 1 })
  await until(async () => (await ask(db.admin, 'select from holdfast.worker where not has_lock')).length === 1)
  expect(
    await ask(
      db.admin,
      `select query from pg_stat_activity where datname = current_database() and query ilike 'listen%'`,
    ),
  ).toEqual([])
})
