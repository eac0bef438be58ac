// A thread of a pool (Piscina) for one run: messages, a memory limit, and a way to end it.

import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import type { Piscina } from 'piscina'
import { describeFailure } from '../../../domain/run/failure.js'
import { CHILD_FILE, type Isolate } from './isolate.js'
import type { FromIsolate, IsolateTask } from './messages.js'

type OnFault = (doing: string, error: unknown) => void

/** `onFault`: a thread of the pool has failed outside of any run. */
export function openThread(
  task: IsolateTask,
  memoryMb: number,
  onMessage: (message: FromIsolate) => void,
  onFault: OnFault,
): Isolate {
  const { port1, port2 } = new MessageChannel()
  const killer = new AbortController()
  let startFault: Error | undefined
  const waiting = (fault: Error) => {
    startFault = fault
    killer.abort()
  }
  let isStarted = (): unknown => undefined
  const receive = (message: FromIsolate | 'started') => (message === 'started' ? isStarted() : onMessage(message))
  port1.on('message', receive)
  const run = threadsOf(memoryMb).then(({ pool, starts }) => {
    isStarted = () => starts.delete(waiting)
    starts.set(waiting, onFault)
    const options = { name: 'runInThread', transferList: [port2], signal: killer.signal }
    return pool.run({ task, port: port2 }, options).finally(isStarted)
  })
  const ended = run
    .then(
      () => ({ what: 'ended without an outcome' }),
      (error: unknown) => ({
        what: startFault ? `could not be started: ${startFault.message}` : `ended: ${describeFailure(error).message}`,
      }),
    )
    .finally(() => {
      // The pool reports the end on another channel, perhaps before all messages on this one have been received.
      for (let left = receiveMessageOnPort(port1); left; left = receiveMessageOnPort(port1)) receive(left.message)
      port1.close()
    })
  return { ended, send: (message) => port1.postMessage(message), kill: () => killer.abort() }
}

/** The runs that wait for a thread, oldest first: how each is failed, and who is told. */
type Starts = Map<(fault: Error) => void, OnFault>

interface Threads {
  readonly pool: Piscina
  readonly starts: Starts
}

const THREADS = new Map<number, Promise<Threads>>()

/** One pool for each memory limit; idle threads end by themselves. */
function threadsOf(memoryMb: number): Promise<Threads> {
  const existing = THREADS.get(memoryMb)
  if (existing) return existing
  const opening = import('piscina').then(({ Piscina }) => {
    const pool = new Piscina({
      filename: CHILD_FILE,
      minThreads: 0,
      maxThreads: 64,
      idleTimeout: 2000,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    const starts: Starts = new Map()
    // The pool reports here a thread that had no run. It starts no other one for the runs that wait.
    pool.on('error', (error: Error) => failStarts(starts, error, pool.threads.length === 0))
    return { pool, starts }
  })
  THREADS.set(memoryMb, opening)
  return opening
}

/** One thread was being started for each run that waits; without any thread left none of them can start. */
function failStarts(starts: Starts, error: Error, isLast: boolean): void {
  for (const [fail, onFault] of [...starts].slice(0, isLast ? starts.size : 1)) {
    starts.delete(fail)
    onFault('starting an isolated thread', error)
    fail(error)
  }
}
