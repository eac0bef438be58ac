// How a worker reaches its lease keeper: in a thread of its own, or in this one.

import type { Store } from '../store/open.js'
import { type Lease, renewLeases } from '../store/settle.js'
import { beatWorker, registerWorker, type WorkerLoad, type WorkerRow } from '../store/workers.js'
import { type KeeperFacts, LeaseKeeper, type TimedLease } from './lease-keeper.js'
import { ThreadedKeeping } from './threaded-keeping.js'

export interface Keeping {
  hold(leases: readonly TimedLease[], claimedAt: number): void
  drop(lease: Lease): void
  /** How the process fares; told with a beat. */
  report(load: WorkerLoad): void
  stop(): Promise<void>
}

export interface KeepingOptions {
  /** false keeps the leases in the worker's own thread, where a blocked event loop loses them. */
  readonly thread: boolean
  /** false where a session is not the worker's own: its death is then told by its beat alone. Asked for when undefined. */
  readonly takesLock: boolean | undefined
}

/** Starts keeping for a registered worker, or without a row for runs that no worker has claimed. */
export async function startKeeping(
  store: Store,
  row: WorkerRow | undefined,
  facts: KeeperFacts,
  options: KeepingOptions,
): Promise<Keeping> {
  const { address, capabilities } = await store.open()
  if (row && address && options.thread) {
    const takesLock = options.takesLock ?? capabilities.sessionLocks
    const data = { database: { address, capabilities }, schema: store.schema, row, takesLock }
    const keeping = new ThreadedKeeping(data, facts)
    await keeping.start()
    return keeping
  }
  const keeper = new LeaseKeeper(
    {
      renew: (leases) => renewLeases(store, leases),
      async beat(load) {
        if (!row) return undefined
        const { isKnown, silenceInMs } = await beatWorker(store, row.id, { rssBytes: process.memoryUsage.rss(), load })
        if (!isKnown) await registerWorker(store, row)
        return silenceInMs
      },
    },
    facts,
  )
  keeper.start()
  return keeper
}
