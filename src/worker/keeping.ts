// How a worker reaches its lease keeper: in a thread of its own, or in this one.

import { createRequire } from 'node:module'
import { Worker as Thread } from 'node:worker_threads'
import { LeaseLost } from '../domain/abort-reasons.js'
import type { Store } from '../store/open.js'
import { type Lease, renewLeases } from '../store/settle.js'
import { beatWorker, registerWorker, type WorkerRow } from '../store/workers.js'
import { dropMessages, type FromKeeper, holdMessages, type ToKeeper } from './keeper-messages.js'
import type { KeeperThreadData } from './keeper-thread.js'
import { type KeeperFacts, LeaseKeeper, type TimedLease } from './lease-keeper.js'

export interface Keeping {
  hold(leases: readonly TimedLease[], claimedAt: number): void
  drop(lease: Lease): void
  stop(): Promise<void>
}

export interface KeepingOptions {
  /** false keeps the leases in the worker's own thread, where a blocked event loop loses them. */
  readonly thread: boolean
  /** false behind a pooler, where a session is not the worker's own: its death is then told by its beat alone. */
  readonly takesLock: boolean
}

/** Starts keeping for a registered worker, or without a row for runs that no worker has claimed. */
export async function startKeeping(
  store: Store,
  row: WorkerRow | undefined,
  facts: KeeperFacts,
  options: KeepingOptions,
): Promise<Keeping> {
  const { address } = await store.open()
  if (row && address && options.thread) {
    return startThread({ database: { address }, schema: store.schema, row, takesLock: options.takesLock }, facts)
  }
  const keeper = new LeaseKeeper(
    {
      renew: (leases) => renewLeases(store, leases),
      async beat() {
        if (row && !(await beatWorker(store, row.id, process.memoryUsage.rss()))) await registerWorker(store, row)
      },
    },
    facts,
  )
  keeper.start()
  return keeper
}

// The built file, also when this one runs from its source: a thread loads JavaScript only.
const THREAD_FILE = createRequire(import.meta.url).resolve('#keeper-thread')

function startThread(data: KeeperThreadData, facts: KeeperFacts): Promise<Keeping> {
  const thread = new Thread(THREAD_FILE, {
    workerData: data,
    name: 'holdfast-keeper',
    execArgv: [], // flags of the program's own start need not fit a thread
  })
  const send = (message: ToKeeper) => thread.postMessage(message)
  let isStopping = false
  return new Promise((resolve, reject) => {
    const stopped = new Promise<void>((done) => thread.once('exit', () => done()))
    thread.on('message', (fact: FromKeeper) => {
      if (fact.kind === 'lost') facts.lost(fact.leases)
      else if (fact.kind === 'overdue') facts.overdue(fact.leases)
      else if (fact.kind === 'healthy') facts.healthy(fact.isHealthy)
      else if (fact.kind === 'fault') facts.fault(fact.doing, new Error(fact.message))
      else if (fact.kind === 'ready') resolve({ hold, drop, stop })
    })
    // Without its keeper the worker holds nothing for certain: everything stops, and it claims no more.
    const died = (error: Error) => {
      reject(error)
      if (isStopping) return
      facts.fault('keeping leases', error)
      facts.overdue('all')
      facts.healthy(false)
    }
    thread.on('error', died)
    thread.once('exit', (code) => died(new LeaseLost(`the keeper thread ended with ${code}`)))

    const hold = (leases: readonly TimedLease[], claimedAt: number) => {
      for (const message of holdMessages(leases, claimedAt)) send(message)
    }
    // Outcomes are settled in batches, so drops come in batches: one message for all of a moment.
    let dropped: Lease[] = []
    const drop = (lease: Lease) => {
      if (dropped.length === 0) {
        setImmediate(() => {
          for (const message of dropMessages(dropped)) send(message)
          dropped = []
        })
      }
      dropped.push(lease)
    }
    const stop = async () => {
      isStopping = true
      send({ kind: 'stop' })
      await stopped
    }
  })
}
