// Keeps leases in a thread of its own. A thread that dies is replaced, after everything it kept has been given up.

import { createRequire } from 'node:module'
import { Worker as Thread } from 'node:worker_threads'
import type { Lease } from '../store/settle.js'
import type { StartLock } from '../store/start-lock.js'
import type { WorkerLoad } from '../store/workers.js'
import { dropMessages, type FromKeeper, holdMessages, type KeeperThreadData, type ToKeeper } from './keeper-messages.js'
import { LeaseBoard } from './lease-board.js'
import type { KeeperFacts, TimedLease } from './lease-keeper.js'
import { Rest } from './rest.js'

// The built file, also when this one runs from its source: a thread loads JavaScript only.
const THREAD_FILE = createRequire(import.meta.url).resolve('#keeper-thread')
const REPLACE_MS = 1000
// A worker that starts has jobs to claim, and its keeper none to keep: the first renewal and the first beat are a second away.
const REST_MS = 1000
// Each message wakes the thread, which may take the core of the one that sends it. What has ended need not be known at once: a
// renewal that comes too late for it is refused, and nobody minds.
const DROP_MS = 50

type ThreadData = Omit<KeeperThreadData, 'board' | 'rest' | 'restMs'>

export class ThreadedKeeping {
  readonly #data: ThreadData
  readonly #facts: KeeperFacts
  readonly #file: string
  #thread: Thread | undefined
  #board = new LeaseBoard()
  #rest = new Rest()
  #dropped: Lease[] = []
  #startLock: StartLock | undefined
  #isStopping = false

  constructor(data: ThreadData, facts: KeeperFacts, file = THREAD_FILE) {
    this.#data = data
    this.#facts = facts
    this.#file = file
  }

  /**
   * Resolves when the thread has told the database that the worker is there, rejects when it dies before. What is held
   * meanwhile reaches it: a thread that boots hears later what it is sent now.
   */
  start(restMs = 0): Promise<void> {
    // What the thread before kept has been given up.
    this.#board = new LeaseBoard()
    this.#rest = new Rest()
    const takesLock = this.#data.takesLock && !this.#startLock
    const thread = new Thread(this.#file, {
      workerData: {
        ...this.#data,
        takesLock,
        board: this.#board.memory,
        rest: this.#rest.memory,
        restMs,
      } satisfies KeeperThreadData,
      name: 'holdfast-keeper',
      execArgv: [], // flags of the program's own start need not fit a thread
    })
    this.#thread = thread
    return new Promise((resolve, reject) => {
      let isReady = false
      thread.on('message', (fact: FromKeeper) => {
        if (fact.kind !== 'ready') return this.#hear(fact)
        isReady = true
        void this.#handLockOver()
        resolve()
      })
      thread.on('error', (error) => this.#facts.fault('keeping leases', error))
      thread.once('exit', (code) => {
        this.#thread = undefined
        reject(new Error(`the keeper thread ended with ${code}`))
        if (isReady && !this.#isStopping) void this.#replace()
      })
    })
  }

  /**
   * Starts while the lock tells that the worker lives; the thread rests first, and gets the lock when it is ready. Resolves then,
   * or at the stop: a thread that dies before is replaced like any other.
   */
  startUnder(lock: StartLock, restMs = REST_MS): Promise<void> {
    this.#startLock = lock
    return this.start(restMs).catch((error) => {
      if (this.#isStopping) return
      this.#facts.fault('starting the keeper thread', error)
      return this.#replace()
    })
  }

  /** Nothing but the keeper can tell any more that the worker lives. */
  hurry(): void {
    this.#rest.wake()
  }

  hold(leases: readonly TimedLease[], claimedAt: number): void {
    const [first] = leases
    if (first && leases.length === 1 && this.#board.hold(first, claimedAt)) return
    for (const message of holdMessages(leases, claimedAt)) this.#send(message)
  }

  /** One message for all of a moment. */
  drop(lease: Lease): void {
    if (this.#board.drop(lease)) return
    if (this.#dropped.length === 0) setTimeout(this.#tellDropped, DROP_MS).unref()
    this.#dropped.push(lease)
  }

  report(load: WorkerLoad): void {
    this.#send({ kind: 'load', load })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    const thread = this.#thread
    if (thread) {
      const ended = new Promise((resolve) => thread.once('exit', resolve))
      this.#rest.dismiss()
      this.#send({ kind: 'stop' })
      await ended
    }
    await this.#startLock?.release()
  }

  readonly #tellDropped = (): void => {
    for (const message of dropMessages(this.#dropped)) this.#send(message)
    this.#dropped = []
  }

  #send(message: ToKeeper): void {
    this.#thread?.postMessage(message)
  }

  async #handLockOver(): Promise<void> {
    if (!this.#startLock) return
    await this.#startLock.release()
    this.#startLock = undefined
    if (!this.#isStopping) this.#send({ kind: 'lock' })
  }

  #hear(fact: Exclude<FromKeeper, { kind: 'ready' }>): void {
    if (fact.kind === 'lost') this.#facts.lost(fact.leases)
    else if (fact.kind === 'overdue') this.#facts.overdue(fact.leases)
    else if (fact.kind === 'healthy') this.#facts.healthy(fact.isHealthy)
    else if (fact.kind === 'silence') this.#facts.silence(fact.inMs)
    else if (fact.kind === 'unanswered') this.#facts.unanswered()
    else this.#facts.fault(fact.doing, new Error(fact.message))
  }

  /** Without its keeper the worker holds nothing for certain: everything stops, and it claims no more until it has another. */
  async #replace(): Promise<void> {
    this.#facts.overdue('all')
    this.#facts.healthy(false)
    while (!this.#isStopping && !this.#thread) {
      await new Promise((resolve) => setTimeout(resolve, REPLACE_MS))
      if (this.#isStopping) return
      await this.start().catch((error) => this.#facts.fault('starting another keeper thread', error))
    }
    this.#facts.healthy(true)
  }
}
