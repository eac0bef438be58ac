// Gives the run one PostgreSQL and, in it, one migrated template database that every test file clones.
// Uses the server of DATABASE_URL (its role must be allowed to create databases and roles), else starts its own.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../scripts/embedded-postgres.mjs'
import { migrate } from '../../src/store/schema/migrate.js'
import { startPgbouncer } from './pgbouncer.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Maintenance database, as the role that owns everything. */
    adminUrl: string
    /** A role that holds Holdfast's runtime roles and no right on any table. */
    appUser: string
    appPassword: string
    /** The migrated database to clone. */
    template: string
    /** A pooler in transaction mode before the server, in the runs that go through one. */
    poolerUrl: string | undefined
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env.DATABASE_URL ? undefined : await startServer()
  const adminUrl = server?.url ?? process.env.DATABASE_URL ?? ''
  const run = randomBytes(6).toString('hex')
  const names = { template: `holdfast_template_${run}`, appUser: `holdfast_test_app_${run}` }
  let pooler: { url: string; close(): Promise<void> } | undefined
  const teardown = async () => {
    await pooler?.close()
    if (server) await server.close()
    else await withClient(adminUrl, (client) => removeTraces(client, names))
  }

  try {
    const appPassword = randomBytes(16).toString('hex')
    await createTemplate(adminUrl, { ...names, appPassword })
    project.provide('adminUrl', adminUrl)
    project.provide('appUser', names.appUser)
    project.provide('appPassword', appPassword)
    project.provide('template', names.template)
    if (process.env.HOLDFAST_TEST_POOLER ?? project.config.env.HOLDFAST_TEST_POOLER) {
      pooler = await startPgbouncer(adminUrl, [{ user: names.appUser, password: appPassword }])
    }
    project.provide('poolerUrl', pooler?.url)
  } catch (error) {
    await teardown()
    throw error
  }
  return teardown
}

function startServer() {
  return startEmbeddedPostgres({
    settings: {
      max_connections: 300,
      shared_buffers: '256MB',
      // No test of ours pulls the plug of the machine, so nothing need wait for the disk.
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_wal_size: '4GB',
      checkpoint_timeout: '1h',
      // Nobody is going to guess a random password; thousands of logins need not hash it thousands of times each.
      scram_iterations: 1,
      // What a plan reads must not depend on whether a table has been looked at just now. Tests vacuum where it matters.
      autovacuum_naptime: '1d',
    },
  })
}

interface Template {
  template: string
  appUser: string
  appPassword: string
}

async function createTemplate(adminUrl: string, { template, appUser, appPassword }: Template): Promise<void> {
  await withClient(adminUrl, (client) => client.query(`create database ${template}`))
  await withClient(databaseUrl(adminUrl, template), async (client) => {
    await migrate(client)
    await client.query(`create role ${appUser} login password '${appPassword}'`)
    await client.query(`grant holdfast_producer, holdfast_worker, holdfast_operator, holdfast_viewer to ${appUser}`)
  })
  // A database with a connection open cannot be cloned.
  await withClient(adminUrl, (client) => client.query(`alter database ${template} with allow_connections false`))
}

async function removeTraces(client: pg.Client, { template, appUser }: { template: string; appUser: string }) {
  const left = await client.query<{ datname: string }>(
    'select d.datname from pg_catalog.pg_database as d where starts_with(d.datname, $1)',
    [`${template}_`],
  )
  for (const { datname } of left.rows) await client.query(`drop database if exists ${datname} with (force)`)
  await client.query(`drop database if exists ${template} with (force)`)
  await client.query(`drop role if exists ${appUser}`)
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function databaseUrl(base: string, database: string): string {
  const url = new URL(base)
  url.pathname = `/${database}`
  return url.href
}
