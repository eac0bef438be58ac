// The PostgreSQL of the scenarios: one server with durable commits, and in it a fresh migrated database for each scenario.
import { randomBytes } from 'node:crypto'
import { createHoldfast } from 'holdfast'
import pg from 'pg'
import { startEmbeddedPostgres } from '../scripts/embedded-postgres.mjs'
import { TABLES } from './tables.mjs'

// Few connections, so that they can be used up.
const SETTINGS = { max_connections: 80, shared_buffers: '128MB' }
// The role of the workers: it may call functions, and a server that is full for it still answers the owner.
const APP = 'chaos_app'

export async function openServer() {
  const server = await startEmbeddedPostgres({ settings: SETTINGS })
  const password = randomBytes(16).toString('hex')
  let made = 0
  return {
    server,
    close: server.close,
    async freshDatabase() {
      made += 1
      const name = `chaos_${made}`
      await once(server.url, `create database ${name}`)
      const ownerUrl = urlOf(server.url, name)
      const holdfast = createHoldfast({ database: ownerUrl, jobs: [] })
      await holdfast.migrate()
      await holdfast.close()
      if (made === 1) {
        await once(ownerUrl, `create role ${APP} login password '${password}'`)
        await once(ownerUrl, `grant holdfast_producer, holdfast_worker, holdfast_operator, holdfast_viewer to ${APP}`)
      }
      await once(ownerUrl, TABLES)
      return openDatabase(ownerUrl, urlOf(server.url, name, { user: APP, password }))
    },
  }
}

async function openDatabase(ownerUrl, url) {
  const owner = new pg.Pool({
    connectionString: ownerUrl,
    max: 4,
    connectionTimeoutMillis: 5000,
    query_timeout: 20_000,
    // The owner writes, also while the server is read-only for everyone else.
    options: '-c default_transaction_read_only=off',
  })
  owner.on('error', () => {})
  return {
    /** As a worker connects. */
    url,
    ownerUrl,
    appRole: APP,
    /** Asks as the owner, beside whatever works just now. */
    ask: async (text, values) => (await owner.query(text, values)).rows,
    close: () => owner.end(),
  }
}

async function once(url, text) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

function urlOf(server, name, login) {
  const url = new URL(server)
  url.pathname = `/${name}`
  if (login) Object.assign(url, { username: login.user, password: login.password })
  return url.href
}
