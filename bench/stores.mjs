// The stores of a benchmark: one PostgreSQL with durable commits, a fresh database in it for each run; a fresh Redis for each
// run where redis-server is installed.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbeddedPostgres } from '../scripts/embedded-postgres.mjs'
import { until } from './clock.mjs'

const REDIS_GUARD = join(dirname(fileURLToPath(import.meta.url)), 'redis-guard.mjs')

// Statements are counted only while a part asks for it.
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '512MB',
  max_connections: 200,
  autovacuum: 'on',
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
}

export async function openStores() {
  const server = await startEmbeddedPostgres({ settings: SETTINGS })
  const admin = new pg.Pool({ connectionString: server.url, max: 2 })
  admin.on('error', () => {})
  const redisVersion = installedRedis()
  const redisRuns = new Set()
  let made = 0
  let closing

  return {
    versions: async () => ({
      postgresql: (await admin.query('show server_version')).rows[0].server_version,
      ...(redisVersion && { redis: redisVersion }),
    }),
    hasRedis: redisVersion !== undefined,
    admin,

    /** A store of its own for one run. */
    async fresh(kind) {
      if (kind === 'redis') return startRedis(redisRuns)
      made += 1
      const name = `bench_${made}`
      await admin.query(`create database ${name}`)
      const url = new URL(server.url)
      url.pathname = `/${name}`
      return {
        url: url.href,
        name,
        pid: server.pid(),
        settleDown: () => settleDown(url.href),
        close: async () => void (await admin.query(`drop database ${name} with (force)`)),
      }
    },

    close() {
      closing ??= (async () => {
        await Promise.all([...redisRuns].map((run) => run.close()))
        await admin.end()
        await server.close()
      })()
      return closing
    },
  }
}

/** What autovacuum and the checkpointer would do in a quiet minute, done now, so that no run pays for another. */
async function settleDown(url) {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  await client.end()
}

function installedRedis() {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return status === 0 ? (/v=(\S+)/.exec(stdout)?.[1] ?? 'unknown') : undefined
}

async function startRedis(runs) {
  const port = await freePort()
  const guard = spawn(process.execPath, [REDIS_GUARD, String(port)], { stdio: ['pipe', 'ignore', 'inherit'] })
  guard.stdin.on('error', () => {})
  const ended = once(guard, 'exit')
  await until(() => {
    if (guard.exitCode !== null) throw new Error('redis-server did not start')
    return answers(port)
  }, 20)
  const run = {
    url: `redis://127.0.0.1:${port}`,
    pid: guard.pid,
    settleDown: async () => {},
    async close() {
      runs.delete(run)
      guard.stdin.end()
      await ended
    },
  }
  runs.add(run)
  return run
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}
