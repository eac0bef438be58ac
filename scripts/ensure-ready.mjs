// Makes a fresh checkout ready before a script runs: installed packages and, with --build, a current dist/.
// Says nothing when there is nothing to do. Uses only what Node brings, since it runs before the install.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MARK = join(ROOT, 'node_modules', '.holdfast-installed')

ensureInstalled()
if (process.argv.includes('--build')) ensureBuilt()

function ensureInstalled() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const wanted = createHash('sha256').update(lock).digest('hex')
  if (existsSync(MARK) && readFileSync(MARK, 'utf8').trim() === wanted) return

  if (!matchesInstalled(JSON.parse(lock))) {
    console.log('holdfast: installing packages (npm ci) …')
    npm(['ci', '--include=dev', '--no-audit', '--no-fund'])
  }
  writeFileSync(MARK, `${wanted}\n`)
}

// A developer may have run `npm ci` by hand; npm then wrote down what it installed, and a second install would gain nothing.
function matchesInstalled(lock) {
  const record = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path.startsWith('node_modules/') && !entry.link)
    .every(([path, entry]) => (installed[path] ? installed[path].version === entry.version : entry.optional === true))
}

function ensureBuilt() {
  const entry = join(ROOT, 'dist', 'index.js')
  const sources = ['src', 'sql', 'tsconfig.json', 'tsconfig.build.json']
  if (existsSync(entry) && newestChange(sources) <= statSync(entry).mtimeMs) return
  console.log('holdfast: building (npm run build) …')
  npm(['run', '--silent', 'build'])
}

function newestChange(places) {
  let newest = 0
  for (const place of places) {
    const path = join(ROOT, place)
    if (!existsSync(path)) continue
    const stat = statSync(path)
    const inner = stat.isDirectory() ? newestChange(readdirSync(path).map((name) => join(place, name))) : 0
    newest = Math.max(newest, stat.mtimeMs, inner)
  }
  return newest
}

function npm(args) {
  const cli = process.env.npm_execpath
  const done = cli
    ? spawnSync(process.execPath, [cli, ...args], { cwd: ROOT, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' })
  if (done.status === 0) return
  console.error(`holdfast: \`npm ${args.join(' ')}\` failed${done.error ? `: ${done.error.message}` : ''}`)
  process.exit(done.status ?? 1)
}
