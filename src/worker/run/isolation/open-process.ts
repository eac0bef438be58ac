// A forked process for one run: messages, a memory limit, and a way to end it with all that it has started.

import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { sanitizeText } from '../../../domain/value/text.js'
import { CHILD_FILE, type Isolate, type IsolateEnd } from './isolate.js'
import { type FromIsolate, type IsolateTask, messageIn, type ToProcess } from './messages.js'

const CHECK_MS = 200
const LAST_BYTES = 4000
// A process that left the group may hold standard error open: after this time nothing more is read from it.
const LAST_WORDS_MS = 500

export function openProcess(task: IsolateTask, memoryMb: number, onMessage: (message: FromIsolate) => void): Isolate {
  const child = fork(CHILD_FILE, {
    execArgv: [`--max-old-space-size=${memoryMb}`],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    detached: process.platform !== 'win32', // a process group of its own, which can be ended as a whole
  })
  let lastLines = ''
  let overMb: number | undefined
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastLines = (lastLines + text).slice(-LAST_BYTES)
  })
  const token = randomUUID()
  child.on('message', (received) => {
    const message = messageIn(received, token)
    if (message) onMessage(message)
  })
  const send = (message: ToProcess) => void (child.connected && child.send(message))
  // A flag limits the heap. Buffers live outside the heap, so the size of the whole process is checked where /proc shows it.
  const check = setInterval(async () => {
    const mb = await residentMb(child.pid)
    if (mb === undefined || mb <= memoryMb + BASE_MB) return
    overMb = mb
    killGroup(child)
  }, CHECK_MS)
  const ended = whenEnded(child).then((end): IsolateEnd => {
    clearInterval(check)
    if ('error' in end) return { what: `could not be started: ${end.error.message}` }
    const isFull = /heap out of memory/i.test(lastLines) ? ': its JavaScript heap was full' : ''
    const memory = overMb === undefined ? isFull : `: it took ${overMb} MB`
    const what = `ended with ${end.signal ? `signal ${end.signal}` : `exit code ${end.code}`}${memory}`
    return { what, ...(lastLines && { lastLines: sanitizeText(lastLines, LAST_BYTES) }) }
  })
  send({ kind: 'run', task, token })
  return { ended, send, kill: () => killGroup(child) }
}

type ProcessEnd = { readonly error: Error } | { readonly code: number | null; readonly signal: string | null }

/** Ends what the process has left running, and reads its last words and messages. */
function whenEnded(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    // Also a message that could not be sent is such an error: the process then ends by itself.
    child.on('error', (error) => child.pid === undefined && resolve({ error }))
    child.once('exit', (code, signal) => {
      killGroup(child)
      const end = () => {
        clearTimeout(timer)
        child.stderr?.destroy()
        resolve({ code, signal })
      }
      // After a blocked event loop, what has arrived meanwhile is read first.
      const timer = setTimeout(() => setImmediate(end), LAST_WORDS_MS)
      child.once('close', end)
    })
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL') // all have ended, or the platform has no process groups
  }
}

// What an empty Node process takes before the handler has allocated anything.
const BASE_MB = 100

async function residentMb(pid: number | undefined): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : Math.round((Number(text.split(' ')[1]) * 4096) / 2 ** 20)
}
