// A clone of the template for a file of SQL tests: proven sound and emptied after each test.
import type pg from 'pg'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { ask } from './ask.js'
import { openTestDatabase, type TestDatabase } from './database.js'
import { expectPlacesSound } from './places.js'

const TABLES = ['ready', 'lease', 'outcome', 'attempt', 'job', 'job_key', 'job_type', 'queue', 'worker', 'audit']

export interface SqlDatabase {
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
  await ask(admin, TABLES.map((table) => `delete from holdfast.${table};`).join('\n'))
  await ask(admin, 'update holdfast.key_floor set token = 0')
}
