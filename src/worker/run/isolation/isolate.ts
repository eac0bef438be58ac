// A thread (Piscina) or a forked process for one run: messages, a memory limit, and a way to end it.

import { fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import type { Piscina } from 'piscina'
import { describeFailure } from '../../../domain/run/failure.js'
import { sanitizeText } from '../../../domain/value/text.js'
import type { FromIsolate, IsolateTask, ToIsolate } from './messages.js'

/** How it ended without an outcome, in words that continue "the process of job 7". */
export interface IsolateEnd {
  readonly what: string
  readonly lastLines?: string
}

export interface Isolate {
  readonly ended: Promise<IsolateEnd>
  send(message: ToIsolate): void
  kill(): void
}

// The built file, also when this one runs from its source: threads and processes load JavaScript only.
const CHILD_FILE = createRequire(import.meta.url).resolve('#isolated-child')
const CHECK_MS = 200
const LAST_BYTES = 4000

export function openProcess(task: IsolateTask, memoryMb: number, onMessage: (message: FromIsolate) => void): Isolate {
  const child = fork(CHILD_FILE, {
    execArgv: [`--max-old-space-size=${memoryMb}`],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let lastLines = ''
  let overMb: number | undefined
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastLines = (lastLines + text).slice(-LAST_BYTES)
  })
  child.on('message', (message) => onMessage(message as FromIsolate))
  child.send({ kind: 'run', task } satisfies ToIsolate)
  // A flag limits the heap. Buffers live outside the heap, so the size of the whole process is checked where /proc shows it.
  const check = setInterval(async () => {
    const mb = await residentMb(child.pid)
    if (mb === undefined || mb <= memoryMb + BASE_MB) return
    overMb = mb
    child.kill('SIGKILL')
  }, CHECK_MS)
  const ended = new Promise<IsolateEnd>((resolve) => {
    child.once('error', (error) => resolve({ what: `could not be started: ${error.message}` }))
    child.once('close', (code, signal) => {
      clearInterval(check)
      const isFull = /heap out of memory/i.test(lastLines) ? ': its JavaScript heap was full' : ''
      const memory = overMb === undefined ? isFull : `: it took ${overMb} MB`
      const what = `ended with ${signal ? `signal ${signal}` : `exit code ${code}`}${memory}`
      resolve({ what, ...(lastLines && { lastLines: sanitizeText(lastLines, LAST_BYTES) }) })
    })
  })
  return {
    ended,
    send: (message) => void (child.connected && child.send(message)),
    kill: () => void child.kill('SIGKILL'),
  }
}

// What an empty Node process takes before the handler has allocated anything.
const BASE_MB = 100

async function residentMb(pid: number | undefined): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : Math.round((Number(text.split(' ')[1]) * 4096) / 2 ** 20)
}

export function openThread(task: IsolateTask, memoryMb: number, onMessage: (message: FromIsolate) => void): Isolate {
  const { port1, port2 } = new MessageChannel()
  const killer = new AbortController()
  port1.on('message', onMessage)
  const run = threadPool(memoryMb).then((pool) =>
    pool.run({ task, port: port2 }, { name: 'runInThread', transferList: [port2], signal: killer.signal }),
  )
  const ended = run
    .then(
      () => ({ what: 'ended without an outcome' }),
      (error: unknown) => ({ what: `ended: ${describeFailure(error).message}` }),
    )
    .finally(() => {
      // The pool reports the end on another channel, perhaps before all messages on this one have been received.
      for (let left = receiveMessageOnPort(port1); left; left = receiveMessageOnPort(port1)) onMessage(left.message)
      port1.close()
    })
  return { ended, send: (message) => port1.postMessage(message), kill: () => killer.abort() }
}

const pools = new Map<number, Promise<Piscina>>()

/** One pool for each memory limit; idle threads end by themselves. */
function threadPool(memoryMb: number): Promise<Piscina> {
  const existing = pools.get(memoryMb)
  if (existing) return existing
  const opening = import('piscina').then(
    ({ Piscina }) =>
      new Piscina({
        filename: CHILD_FILE,
        minThreads: 0,
        maxThreads: 64,
        idleTimeout: 2000,
        resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      }),
  )
  pools.set(memoryMb, opening)
  return opening
}
