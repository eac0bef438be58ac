// What a keeper's thread does: its own event loop and its own connection, so that a handler that blocks the worker's thread
// keeps its jobs.

import { parentPort, workerData } from 'node:worker_threads'
import type { Callee } from '../store/call.js'
import { KeptSession } from '../store/kept-session.js'
import { renewLeases } from '../store/settle.js'
import { beatWorker, holdWorkerLock, registerWorker } from '../store/workers.js'
import { type FromKeeper, type KeeperThreadData, SHORT_LEASE_MS, type ToKeeper } from './keeper-messages.js'
import { LeaseBatches } from './lease-batches.js'
import { LeaseBoardReader } from './lease-board.js'
import { LeaseKeeper, monotonicMs } from './lease-keeper.js'

// A claim younger than this is not read yet.
const YOUNG_MS = 300

const port = parentPort
if (port) {
  const data = workerData as KeeperThreadData
  const store: Callee = {
    schema: data.schema,
    open: () => Promise.reject(new Error('a keeper has one session, and every call goes through it')),
  }
  let { takesLock } = data
  let locking: Promise<unknown> | undefined
  const session = new KeptSession(data.database.address, async (fresh) => {
    await registerWorker(store, data.row, fresh)
    if (takesLock) await holdWorkerLock(store, data.row.id, fresh)
  })
  const tell = (fact: FromKeeper) => port.postMessage(fact)
  const fault = (doing: string, error: unknown) => tell({ kind: 'fault', doing, message: String(error) })
  const keeper = new LeaseKeeper(
    {
      renew: (leases) => renewLeases(store, leases, session),
      async beat(load) {
        const beat = { rssBytes: process.memoryUsage.rss(), load }
        const { isKnown, silenceInMs } = await beatWorker(store, data.row.id, beat, session)
        // Others took this worker for dead. Its leases are gone with its row; a fresh session says that it is there.
        if (!isKnown) await session.renew()
        return silenceInMs
      },
    },
    {
      lost: (leases) => tell({ kind: 'lost', leases }),
      overdue: (leases) => tell({ kind: 'overdue', leases }),
      healthy: (isHealthy) => tell({ kind: 'healthy', isHealthy }),
      silence: (inMs) => tell({ kind: 'silence', inMs }),
      unanswered: () => tell({ kind: 'unanswered' }),
      fault,
    },
  )
  const batches = new LeaseBatches()
  const board = new LeaseBoardReader(data.board)
  const read = (claimedBefore: number) => {
    const { come, gone } = board.look(claimedBefore)
    for (const lease of gone) keeper.drop(lease)
    // The latest lease of a job is the one that stays.
    const ripe = [...batches.takeOlder(claimedBefore), ...come].sort((a, b) => a.claimedAt - b.claimedAt)
    for (const { leases, claimedAt } of ripe) keeper.hold(leases, claimedAt)
  }
  port.on('message', async (message: ToKeeper) => {
    if (message.kind === 'hold') {
      batches.hold(message)
      if (message.shortestMs < SHORT_LEASE_MS) read(message.claimedAt)
    } else if (message.kind === 'drop') {
      for (const lease of batches.drop(message)) keeper.drop(lease)
    } else if (message.kind === 'load') {
      keeper.report(message.load)
    } else if (message.kind === 'lock') {
      takesLock = true
      locking = holdWorkerLock(store, data.row.id, session).catch((error) => fault('taking the lock', error))
    } else {
      await keeper.stop()
      await locking
      await session.close()
      port.close()
    }
  })
  keeper.start(() => read(monotonicMs() - YOUNG_MS))
  // Registered and with its lock it counts as heard: the first beat can wait for its time.
  await session.open().catch((error) => fault('reaching the database', error))
  tell({ kind: 'ready' })
}
