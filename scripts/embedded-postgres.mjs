// Starts a private PostgreSQL from the binaries that npm installed: fresh folder, free loopback port, random password.
// However the caller ends, even by kill -9, a guard process ends the server and removes the folder.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { chmod, chown, cp, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const GUARD = join(dirname(fileURLToPath(import.meta.url)), 'embedded-postgres-guard.mjs')
const USER = 'postgres'

/**
 * A running server. `stop` keeps the data, so `start` can bring it back on the same port; `close` ends it for good.
 * @typedef {object} EmbeddedPostgres
 * @property {string} url of the maintenance database, as superuser
 * @property {number} port
 * @property {string} folder holds the data and `server.log`
 * @property {() => number | undefined} pid of the postmaster, while it runs
 * @property {() => Promise<void>} start
 * @property {(signal?: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') => Promise<void>} stop fast, immediate or crash
 * @property {() => Promise<void>} close
 */

/**
 * @param {{ settings?: Record<string, string | number> }} [options] server settings, as in postgresql.conf
 * @returns {Promise<EmbeddedPostgres>}
 */
export async function startEmbeddedPostgres({ settings = {} } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'))
  const guard = spawn(process.execPath, [GUARD, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  guard.unref()
  const { stdin: lifeline } = guard
  if ('unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()

  try {
    const owner = unprivilegedOwner()
    if (owner) {
      await chmod(folder, 0o755)
      await chown(folder, owner.uid, owner.gid)
    }
    const native = await reachableBinaries(folder, owner)
    const password = randomBytes(16).toString('hex')
    await initialise(native, { folder, password, owner, settings })
    const server = controls({ native, folder, password, owner, settings, port: await freePort() })
    await server.start()
    return {
      ...server,
      close: async () => {
        await server.stop()
        lifeline.end()
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    lifeline.end()
    throw error
  }
}

/** @typedef {{ uid: number, gid: number }} Owner */

/**
 * PostgreSQL refuses to run as root; any other account will do, and nothing needs to be created for it.
 * @returns {Owner | undefined}
 */
function unprivilegedOwner() {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }))
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no account "postgres" or "nobody" to run it as')
}

/**
 * Finds the package's `native` folder; completes its library links; copies it where a checkout in a private home
 * directory cannot be read by the server's account.
 * @param {string} folder
 * @param {Owner | undefined} owner
 */
async function reachableBinaries(folder, owner) {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const { postgres } = await import(`@embedded-postgres/${platform}`).catch((cause) => {
    throw new Error(`no PostgreSQL binaries for ${platform}; set DATABASE_URL to use a server of your own`, { cause })
  })
  const native = dirname(dirname(postgres))
  await completeLibraryLinks(dirname(native))
  if (!owner || isOpenToAll(native)) return native
  const copy = join(folder, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/**
 * The package makes its links in an install script, and installs may be configured to run none.
 * @param {string} packageFolder
 */
async function completeLibraryLinks(packageFolder) {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  /** @type {{ target: string }[]} */
  const links = JSON.parse(list)
  if (links.every(({ target }) => existsSync(join(packageFolder, target)))) return
  const script = join(packageFolder, 'scripts', 'hydrate-symlinks.js')
  const done = spawnSync(process.execPath, [script], { cwd: packageFolder, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`the library links of PostgreSQL could not be made: ${done.stderr}`)
}

/**
 * @param {string} path
 * @returns {boolean}
 */
function isOpenToAll(path) {
  const parent = dirname(path)
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isOpenToAll(parent))
}

/**
 * With the server's settings, since some of them decide about what is made here: how the password is kept, for one.
 * @param {string} native
 * @param {Pick<Cluster, 'folder' | 'password' | 'owner' | 'settings'>} cluster
 */
async function initialise(native, { folder, password, owner, settings }) {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (owner) await chown(passwordFile, owner.uid, owner.gid)
  const options = [`--pgdata=${join(folder, 'data')}`, `--username=${USER}`, `--pwfile=${passwordFile}`]
  const habits = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync']
  const set = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const initdb = spawn(await executable(native, 'initdb'), [...options, ...habits, ...set], {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  initdb.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const [code] = await once(initdb, 'close')
  await rm(passwordFile, { force: true })
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${complaint}`)
}

/** @typedef {{ native: string, folder: string, password: string, owner: Owner | undefined, port: number, settings: Record<string, string | number> }} Cluster */

/** @param {Cluster} cluster */
function controls(cluster) {
  const url = `postgres://${USER}:${cluster.password}@127.0.0.1:${cluster.port}/postgres`
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let postmaster

  return {
    url,
    port: cluster.port,
    folder: cluster.folder,
    pid: () => postmaster?.pid,
    async start() {
      postmaster = await launch(cluster)
      await untilReady(postmaster, url, join(cluster.folder, 'server.log'))
    },
    /** @param {'SIGINT' | 'SIGQUIT' | 'SIGKILL'} [signal] */
    async stop(signal = 'SIGINT') {
      const ending = postmaster
      postmaster = undefined
      if (!ending || hasEnded(ending)) return
      ending.ref()
      const ended = once(ending, 'exit')
      ending.kill(signal)
      // A backend that ignores the fast shutdown must not hold up the caller for ever.
      const impatience = setTimeout(() => ending.kill('SIGQUIT'), 10_000)
      await ended
      clearTimeout(impatience)
    },
  }
}

/** @param {Cluster} cluster */
async function launch({ native, folder, owner, port, settings }) {
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await open(join(folder, 'server.log'), 'a')
  try {
    const postmaster = spawn(
      await executable(native, 'postgres'),
      ['-D', join(folder, 'data'), '-p', String(port), ...flags],
      { ...owner, cwd: folder, stdio: ['ignore', log.fd, log.fd] },
    )
    postmaster.on('error', () => {})
    postmaster.unref()
    return postmaster
  } finally {
    await log.close()
  }
}

/**
 * @param {import('node:child_process').ChildProcess} postmaster
 * @param {string} url
 * @param {string} log
 */
async function untilReady(postmaster, url, log) {
  const deadline = Date.now() + 60_000
  while (!(await accepts(url))) {
    if (postmaster.pid === undefined || hasEnded(postmaster) || Date.now() > deadline) {
      throw new Error(`PostgreSQL did not start:\n${await readFile(log, 'utf8').catch(() => '')}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** @param {string} url */
async function accepts(url) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** @param {import('node:child_process').ChildProcess} child */
function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null
}

/**
 * @param {string} native
 * @param {string} name
 */
async function executable(native, name) {
  const file = join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  if ((statSync(file).mode & 0o111) !== 0o111) await chmod(file, 0o755)
  return file
}

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer()
  probe.listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('the system gave no port')
  return address.port
}
