// A clone of the template for a file of SQL tests: proven sound and emptied after each test.
import type pg from 'pg'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { ask, askList, askValue } from './ask.js'
import { openTestDatabase, type TestDatabase } from './database.js'
import { expectPlacesSound } from './places.js'

const KEPT = ['migration', 'key_floor']

export interface SqlDatabase {
  /** Whole, for what needs its URL or its engine. */
  readonly whole: TestDatabase
  /** As the application, with EXECUTE and nothing else. */
  readonly pool: pg.Pool
  /** As the owner, to look behind the functions. */
  readonly admin: pg.Pool
  /** A session of its own, closed after the test. */
  connect(as?: 'app' | 'admin'): Promise<pg.Client>
}

/** `staysSound: false` for tests that break the places on purpose. */
export function useDatabase({ staysSound = true } = {}): SqlDatabase {
  let open: TestDatabase | undefined
  const clients: pg.Client[] = []
  const database = () => {
    if (!open) throw new Error('the database is there only inside tests')
    return open
  }

  beforeAll(async () => {
    open = await openTestDatabase()
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()))
    try {
      if (staysSound) await expectPlacesSound(database().admin)
    } finally {
      await empty(database().admin)
    }
  })
  afterAll(() => open?.close())

  return {
    get whole() {
      return database()
    },
    get pool() {
      return database().pool
    },
    get admin() {
      return database().admin
    },
    async connect(as) {
      const client = await database().connect(as)
      clients.push(client)
      return client
    },
  }
}

async function empty(admin: pg.Pool): Promise<void> {
  const tables = await askList<string>(
    admin,
    `select 'holdfast.' || c.relname from pg_class as c
      where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> all ($1)`,
    [KEPT],
  )
  // A few rows are deleted in less time than it takes to make new files.
  const isLarge = await askValue<boolean>(admin, `select pg_relation_size('holdfast.job') > 4e6`)
  await ask(admin, isLarge ? `truncate ${tables}` : tables.map((table) => `delete from ${table};`).join('\n'))
  await ask(admin, 'update holdfast.key_floor set token = 0')
}
