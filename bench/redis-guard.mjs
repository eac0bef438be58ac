// Runs redis-server on the given port in a fresh folder, until its parent is gone or ends this process's standard input.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const port = process.argv[2]
const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-redis-'))
const place = ['--port', port, '--bind', '127.0.0.1', '--dir', folder]
const durability = [
  '--appendonly',
  'yes',
  '--appendfsync',
  'everysec',
  '--save',
  '',
  '--maxmemory-policy',
  'noeviction',
]
const server = spawn('redis-server', [...place, ...durability], { stdio: 'ignore' })

server.on('error', cleanUp)
server.on('exit', cleanUp)
process.stdin.resume()
process.stdin.on('error', () => {})
process.stdin.on('close', () => server.kill('SIGKILL'))

function cleanUp() {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(0)
}
