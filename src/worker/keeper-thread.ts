// The thread that keeps a worker's leases: its own event loop and its own connection, so that a handler that blocks the
// worker's thread keeps its jobs.

import { parentPort, workerData } from 'node:worker_threads'
import { KeptSession } from '../store/kept-session.js'
import { type DatabaseAddress, Store } from '../store/open.js'
import { type Lease, renewLeases } from '../store/settle.js'
import { beatWorker, holdWorkerLock, registerWorker, type WorkerRow } from '../store/workers.js'
import { LeaseKeeper, type TimedLease } from './lease-keeper.js'

export interface KeeperThreadData {
  readonly database: DatabaseAddress
  readonly schema: string
  readonly row: WorkerRow
  readonly takesLock: boolean
}

export type ToKeeper =
  | { readonly kind: 'hold'; readonly leases: readonly TimedLease[]; readonly claimedAt: number }
  | { readonly kind: 'drop'; readonly leases: readonly Lease[] }
  | { readonly kind: 'stop' }

export type FromKeeper =
  | { readonly kind: 'ready' }
  | { readonly kind: 'lost'; readonly leases: readonly Lease[] }
  | { readonly kind: 'overdue'; readonly leases: readonly Lease[] | 'all' }
  | { readonly kind: 'healthy'; readonly isHealthy: boolean }
  | { readonly kind: 'fault'; readonly doing: string; readonly message: string }
  | { readonly kind: 'stopped' }

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
  port.on('message', async (message: ToKeeper) => {
    if (message.kind === 'hold') keeper.hold(message.leases, message.claimedAt)
    else if (message.kind === 'drop') keeper.drop(message.leases)
    else {
      await keeper.stop()
      await session.close()
      tell({ kind: 'stopped' })
      port.close()
    }
  })
  await keeper.runOnce()
  keeper.start()
  tell({ kind: 'ready' })
}
