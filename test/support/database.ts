// A migrated database of its own for the calling test file: a clone on the run's PostgreSQL, or a PGlite in memory.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  engine: 'postgres' | 'pglite'
  name: string
  /** As the application: may call Holdfast's functions, has no right on any table. Through the run's pooler if it has one. */
  url: string
  /** As the owner. */
  adminUrl: string
  pool: pg.Pool
  /** The owner's pool, to look behind the functions. On PGlite the same as `pool`. */
  admin: pg.Pool
  pglite?: PGlite
  /** One more connection, open until closed by the caller or by `close()`. On PGlite it shares the only session. */
  connect(as?: 'app' | 'admin'): Promise<pg.Client>
  close(): Promise<void>
}

export function openTestDatabase(): Promise<TestDatabase> {
  return process.env.HOLDFAST_TEST_ENGINE === 'pglite' ? openPGlite() : openClone()
}

async function openClone(): Promise<TestDatabase> {
  const server = inject('adminUrl')
  const template = inject('template')
  const name = `${template}_${randomBytes(4).toString('hex')}`
  await clone(server, template, name)

  const adminUrl = urlFor(server, name)
  const login = { user: inject('appUser'), password: inject('appPassword') }
  const direct = urlFor(server, name, login)
  const pooler = inject('poolerUrl')
  const url = pooler ? urlFor(pooler, name, login) : direct
  const pool = quietPool(direct)
  const admin = quietPool(adminUrl)
  const extra = extraClients((as) => new pg.Client({ connectionString: as === 'admin' ? adminUrl : direct }))
  return {
    engine: 'postgres',
    name,
    url,
    adminUrl,
    pool,
    admin,
    connect: extra.connect,
    async close() {
      await extra.endAll()
      await Promise.all([pool.end(), admin.end()])
      await asAdmin(server, (client) => client.query(`drop database if exists ${name} with (force)`))
    },
  }
}

async function openPGlite(): Promise<TestDatabase> {
  const [{ PGlite }, { createPgConfig }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/node-postgres'),
  ])
  const image = await readFile(inject('pgliteImage'))
  const pglite = await PGlite.create({ loadDataDir: new Blob([new Uint8Array(image)]) })
  const pool = new pg.Pool({ ...createPgConfig(pglite), max: 1 } as pg.PoolConfig)
  const extra = extraClients(() => new pg.Client(createPgConfig(pglite) as pg.ClientConfig))
  return {
    engine: 'pglite',
    name: 'postgres',
    url: 'memory://',
    adminUrl: 'memory://',
    pool,
    admin: pool,
    pglite,
    connect: extra.connect,
    async close() {
      await extra.endAll()
      await pool.end()
      await pglite.close()
    },
  }
}

// Autovacuum may be looking into the template just now; it does not stay.
async function clone(server: string, template: string, name: string): Promise<void> {
  const OBJECT_IN_USE = '55006'
  await asAdmin(server, async (client) => {
    for (let tries = 1; ; tries += 1) {
      try {
        await client.query(`create database ${name} template ${template} strategy file_copy`)
        return
      } catch (error) {
        if (!(error instanceof pg.DatabaseError) || error.code !== OBJECT_IN_USE || tries === 100) throw error
        await pause(100)
      }
    }
  })
}

// Tests end backends on purpose; a pool or client without a listener would end the test process with them.
function quietPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString })
  pool.on('error', () => {})
  return pool
}

function extraClients(make: (as: 'app' | 'admin') => pg.Client) {
  const open = new Set<pg.Client>()
  return {
    async connect(as: 'app' | 'admin' = 'app'): Promise<pg.Client> {
      const client = make(as)
      client.on('error', () => {})
      client.once('end', () => open.delete(client))
      await client.connect()
      open.add(client)
      return client
    },
    async endAll(): Promise<void> {
      await Promise.all([...open].map((client) => client.end()))
    },
  }
}

async function asAdmin(server: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function urlFor(server: string, database: string, login?: { user: string; password: string }): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  if (login) {
    url.username = login.user
    url.password = login.password
  }
  return url.href
}
