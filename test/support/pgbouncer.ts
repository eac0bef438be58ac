// PgBouncer in transaction mode before a test's server: few sessions, handed from one client to the next.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

interface Login {
  readonly user: string
  readonly password: string
}

/** The program's path; undefined where it is not installed. */
export function findPgbouncer(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path))
}

/** Lets the given roles through to every database of the server; at most `sessions` of a role reach one at a time. */
export async function startPgbouncer(serverUrl: string, logins: readonly Login[], sessions = 5) {
  const program = findPgbouncer()
  if (program === undefined) throw new Error('pgbouncer is not installed')
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pgbouncer-'))
  const port = await freePort()
  const { hostname, port: serverPort } = new URL(serverUrl)
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${serverPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = md5',
    `auth_file = ${join(folder, 'users.txt')}`,
    'pool_mode = transaction',
    `default_pool_size = ${sessions}`,
    'max_client_conn = 500',
    'ignore_startup_parameters = extra_float_digits',
  ]
  await writeFile(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
  await writeFile(join(folder, 'users.txt'), logins.map(({ user, password }) => `"${user}" "${password}"\n`).join(''))
  // It refuses to run as root, and the account that it runs as must be able to read its files.
  await chmod(folder, 0o755)
  const identity = process.getuid?.() === 0 ? { uid: nobody('-u'), gid: nobody('-g') } : {}
  const start = () => startProcess(program, join(folder, 'pgbouncer.ini'), port, identity)
  let child: ChildProcess | undefined
  const close = async () => {
    await ended(child)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    child = await start()
  } catch (error) {
    await close()
    throw error
  }
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    url: url.href,
    close,
    /** Every client and every session is cut off; then it is there again at the same place. */
    async restart() {
      await ended(child)
      child = await start()
    },
  }
}

async function startProcess(
  program: string,
  settings: string,
  port: number,
  identity: { uid?: number; gid?: number },
): Promise<ChildProcess> {
  const child = spawn(program, ['-q', settings], { stdio: ['ignore', 'ignore', 'pipe'], ...identity })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-4000)
  })
  try {
    await whenListening(port, child, () => said)
    return child
  } catch (error) {
    await ended(child)
    throw error
  }
}

function nobody(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

/** It listens when it refuses an unknown login in its own words. */
async function whenListening(port: number, child: ChildProcess, said: () => string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}: ${said()}`)
    const client = new pg.Client({
      host: '127.0.0.1',
      port,
      user: 'nobody-knows-me',
      database: 'postgres',
      password: 'x',
    })
    const error = await client.connect().then(
      () => undefined,
      (thrown: NodeJS.ErrnoException) => thrown,
    )
    if (error?.code !== 'ECONNREFUSED') return
    await pause(50)
  }
  throw new Error(`pgbouncer does not listen: ${said()}`)
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}
