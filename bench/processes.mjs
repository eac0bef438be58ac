// The systems' processes, seen from the command: started, ordered, heard, and ended whatever happens.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const THIS_CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)))
const LONGEST_SILENCE_MS = 120_000

const living = new Set()

/**
 * How a part starts a system's process: by the harness, the adapters and the library of a checkout.
 * @param {string} node
 * @param {string} checkout its folder
 */
export function startIn(node, checkout) {
  const entry = join(checkout, 'bench', 'system-process.mjs')
  return (part, { name }, params, url) => startProcess({ node, entry, part, system: name, params, url })
}

function startProcess({ node, entry, part, system, params, url }) {
  const child = spawn(node, [entry, part, system, JSON.stringify(params)], {
    env: { ...process.env, STORE_URL: url, NODE_NO_WARNINGS: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  living.add(child)
  child.stdin.on('error', () => {})
  const facts = []
  const listeners = new Set()
  let complaint = ''
  let end
  const news = () => {
    for (const listener of listeners) listener()
  }
  child.stderr.on('data', (chunk) => {
    complaint = (complaint + chunk).slice(-4000)
  })
  createInterface({ input: child.stdout }).on('line', (text) => {
    facts.push(JSON.parse(text))
    news()
  })
  child.on('close', (code, signal) => {
    living.delete(child)
    end = code ?? signal
    news()
  })

  return {
    pid: child.pid,
    say: (order) => child.stdin.write(`${order}\n`),
    /** The next fact of that name, which is then taken; others stay. */
    async hear(name) {
      for (;;) {
        const at = facts.findIndex(({ fact }) => fact === name)
        if (at >= 0) return facts.splice(at, 1)[0]
        if (end !== undefined) throw new Error(`${system} in "${part}" ended (${end}) before "${name}":\n${complaint}`)
        await untilNews(listeners, `${system} in "${part}" waiting for "${name}"`, () => complaint)
      }
    },
    failIfEnded() {
      if (end !== undefined) throw new Error(`${system} in "${part}" ended (${end}):\n${complaint}`)
    },
    /** Every fact of that name so far, taken. */
    takeAll(name) {
      const taken = facts.filter(({ fact }) => fact === name)
      facts.splice(0, facts.length, ...facts.filter(({ fact }) => fact !== name))
      return taken
    },
    async ended() {
      while (end === undefined) await untilNews(listeners, `the end of ${system} in "${part}"`, () => complaint)
    },
  }
}

export async function endAllProcesses() {
  for (const child of living) child.kill('SIGKILL')
  while (living.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
}

function untilNews(listeners, what, complaint) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      listeners.delete(heard)
      reject(new Error(`nothing heard for ${LONGEST_SILENCE_MS / 1000} s: ${what}\n${complaint()}`))
    }, LONGEST_SILENCE_MS)
    const heard = () => {
      clearTimeout(timer)
      listeners.delete(heard)
      resolve()
    }
    listeners.add(heard)
  })
}
