// Waits until its parent is gone (its standard input ends), then ends the server of the given folder and removes it.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2]
process.stdin.resume()
process.stdin.on('error', () => {})
process.stdin.on('close', cleanUp)

async function cleanUp() {
  const pid = postmaster()
  if (pid) {
    signal(pid, 'SIGQUIT')
    for (let tries = 0; tries < 200 && signal(pid, 0); tries += 1) await new Promise((next) => setTimeout(next, 50))
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function postmaster() {
  try {
    return Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10)
  } catch {
    return undefined
  }
}

function signal(pid, name) {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
