// The command `holdfast` as a process of its own, from the built package.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Runs to its end. No database is named but by `args` and `env`. */
export function holdfast(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  return startHoldfast(args, options).ended
}

export function startHoldfast(args: readonly string[], options: CommandOptions = {}) {
  return startCommand(process.execPath, [MAIN, ...args], options)
}

/** A process whose output can be waited for; end it with `kill` if it does not end by itself. */
export function startCommand(program: string, args: readonly string[], { cwd, env }: CommandOptions = {}) {
  const { DATABASE_URL: _, HOLDFAST_DATABASE_URL: __, ...rest } = process.env
  // A process group of its own: npm does not pass SIGKILL on to what it has started.
  const child = spawn(program, args, { cwd, env: { ...rest, NODE_NO_WARNINGS: '1', ...env }, detached: true })
  const said = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
      for (const check of waiting) check()
    })
  }
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      resolve({ code, ...said })
      for (const check of waiting) check()
    })
  })
  return {
    ended,
    type: (line: string) => child.stdin.write(`${line}\n`),
    kill: (signal: NodeJS.Signals = 'SIGTERM') => {
      if (!isOver(child)) process.kill(-(child.pid as number), signal)
    },
    /** Resolves with what `stdout` holds once it matches; rejects when the process ends before. */
    says: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const check = () => {
          if (pattern.test(said.stdout)) resolve(said.stdout)
          else if (isOver(child)) reject(new Error(`ended before it said ${pattern}:\n${said.stdout}\n${said.stderr}`))
          else return
          waiting.delete(check)
        }
        waiting.add(check)
        check()
      }),
  }
}

function isOver(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
