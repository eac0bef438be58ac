// A clean checkout of another commit, in a temporary folder, installed and built.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from './arguments.mjs'
import { THIS_CHECKOUT } from './processes.mjs'

/**
 * @param {string} ref as git understands it: a branch, a tag, a hash, main~3
 * @returns {{ hash: string, short: string, subject: string }}
 */
export function commitNamed(ref) {
  if (git('rev-parse', '--git-dir').status !== 0) {
    throw new UsageError(`--against ${ref} needs a git checkout of Holdfast, and ${THIS_CHECKOUT} is none`)
  }
  const { status, stdout: hash } = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)
  if (status !== 0) {
    throw new UsageError(
      `--against "${ref}" is not a commit of this repository; give a branch, a tag, a hash or such as main~3 (\`git log --oneline\` lists commits)`,
    )
  }
  const [short, subject] = git('log', '-1', '--format=%h%n%s', hash).stdout.split('\n')
  return { hash, short, subject }
}

export function isIn({ hash }, path) {
  return git('cat-file', '-e', `${hash}:${path}`).status === 0
}

/** `makeReady` checks the commit out, installs and builds it; `remove` may come at any time. */
export function checkOut({ hash, short }) {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-against-'))
  const folder = join(home, 'checkout')
  let preparing

  return {
    folder,

    async makeReady() {
      const { status, stderr } = git('worktree', 'add', '--detach', '--quiet', folder, hash)
      if (status !== 0) throw new Error(`git could not check ${short} out:\n${stderr}`)
      if (lockOf(folder) === lockOf(THIS_CHECKOUT)) {
        symlinkSync(join(THIS_CHECKOUT, 'node_modules'), join(folder, 'node_modules'), 'junction')
      }
      // Its own script knows how it is installed and built.
      preparing = spawn(process.execPath, [join(folder, 'scripts', 'ensure-ready.mjs'), '--build'], {
        cwd: folder,
        stdio: ['ignore', 'inherit', 'inherit'],
        detached: true,
      })
      const [code] = await once(preparing, 'exit')
      if (code !== 0) throw new Error(`${short} could not be installed and built`)
    },

    async remove() {
      if (preparing && preparing.exitCode === null && preparing.signalCode === null) await endGroup(preparing)
      git('worktree', 'remove', '--force', folder)
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** npm and the compiler run in processes of their own. */
async function endGroup(child) {
  const ended = once(child, 'exit')
  if (process.platform === 'win32') child.kill()
  else process.kill(-child.pid, 'SIGKILL')
  await ended
}

function lockOf(folder) {
  const lock = join(folder, 'package-lock.json')
  return existsSync(lock) ? readFileSync(lock, 'utf8') : undefined
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: THIS_CHECKOUT, encoding: 'utf8' })
  return { status, stdout: stdout?.trim(), stderr }
}
