// The thread that keeps a worker's leases: its own event loop and its own connection, so that a handler that blocks the
// worker's thread keeps its jobs.

import { parentPort, workerData } from 'node:worker_threads'
import { KeptSession } from '../store/kept-session.js'
import { type DatabaseAddress, Store } from '../store/open.js'
import { renewLeases } from '../store/settle.js'
import { beatWorker, holdWorkerLock, registerWorker, type WorkerRow } from '../store/workers.js'
import { type FromKeeper, type ToKeeper, unpackDropped, unpackHeld } from './keeper-messages.js'
import { LeaseKeeper } from './lease-keeper.js'

export interface KeeperThreadData {
  readonly database: DatabaseAddress
  readonly schema: string
  readonly row: WorkerRow
  readonly takesLock: boolean
}

const port = parentPort
if (port) {
  const data = workerData as KeeperThreadData
  // Names the schema; every call goes through the one session below.
  const store = new Store({ schema: data.schema, database: data.database })
  const session = new KeptSession(data.database.address, async (fresh) => {
    await registerWorker(store, data.row, fresh)
    if (data.takesLock) await holdWorkerLock(store, data.row.id, fresh)
  })
  const tell = (fact: FromKeeper) => port.postMessage(fact)
  const keeper = new LeaseKeeper(
    {
      renew: (leases) => renewLeases(store, leases, session),
      async beat() {
        const isKnown = await beatWorker(store, data.row.id, process.memoryUsage.rss(), session)
        // Others took this worker for dead. Its leases are gone with its row; a fresh session says that it is there.
        if (!isKnown) await session.renew()
      },
    },
    {
      lost: (leases) => tell({ kind: 'lost', leases }),
      overdue: (leases) => tell({ kind: 'overdue', leases }),
      healthy: (isHealthy) => tell({ kind: 'healthy', isHealthy }),
      fault: (doing, error) => tell({ kind: 'fault', doing, message: String(error) }),
    },
  )
  // Read at each tick and not at each message: most jobs are dropped before anyone would have looked at them. Leases so short
  // that a tick of a second is too long for them are read at once.
  let unread: ToKeeper[] = []
  const read = () => {
    const messages = unread
    unread = []
    for (const message of messages) {
      if (message.kind === 'hold') keeper.hold(unpackHeld(message.leases), message.claimedAt)
      else if (message.kind === 'drop') for (const lease of unpackDropped(message.leases)) keeper.drop(lease)
    }
  }
  port.on('message', async (message: ToKeeper) => {
    unread.push(message)
    if (message.kind === 'hold' && message.shortestMs < 4000) read()
    if (message.kind !== 'stop') return
    await keeper.stop()
    await session.close()
    port.close()
  })
  await keeper.runOnce()
  keeper.start(read)
  tell({ kind: 'ready' })
}
