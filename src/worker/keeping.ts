// How a worker reaches its lease keeper: in a thread of its own, or in this one.

import type { Store } from '../store/open.js'
import { type Lease, renewLeases } from '../store/settle.js'
import { takeStartLock } from '../store/start-lock.js'
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
  /** The file of the keeper's thread, where it is not the library's own. */
  readonly threadFile?: string | undefined
}

// A keeper's thread rests for a second and boots in a tenth of one, on a machine with little time to spare in many. No lease may
// run out meanwhile.
const BOOTED_MS = 10_000
// One is the lock's, and those who claim and settle do not wait for each other.
const ENOUGH_CONNECTIONS = 3

/**
 * Registers the worker and keeps for it, or without a row for runs that no worker has claimed. Resolves when the worker may
 * claim leases of that length and longer.
 */
export async function startKeeping(
  store: Store,
  row: WorkerRow | undefined,
  facts: KeeperFacts,
  { thread, threadFile, ...options }: KeepingOptions & { readonly shortestLeaseMs: number },
): Promise<Keeping> {
  const { address, capabilities, maxConnections } = await store.open()
  if (row && address && thread) {
    const takesLock = options.takesLock ?? capabilities.sessionLocks
    const data = { database: { address, capabilities }, schema: store.schema, row, takesLock }
    const keeping = new ThreadedKeeping(data, facts, threadFile)
    const isAhead = takesLock && options.shortestLeaseMs >= BOOTED_MS && maxConnections >= ENOUGH_CONNECTIONS
    if (!(isAhead && (await startAhead(keeping, store, row, facts)))) {
      await registerWorker(store, row)
      await keeping.start()
    }
    return keeping
  }
  if (row) await registerWorker(store, row)
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

/** Does not wait for the thread: until it is ready, a lock tells that the worker lives. false without one. */
async function startAhead(
  keeping: ThreadedKeeping,
  store: Store,
  row: WorkerRow,
  facts: KeeperFacts,
): Promise<boolean> {
  let ready: Promise<void> | undefined
  const lock = await takeStartLock(store, row, (error) => {
    facts.fault('holding the lock until the keeper has booted', error)
    facts.healthy(false)
    keeping.hurry()
    void ready?.then(() => facts.healthy(true))
  })
  if (!lock) return false
  ready = keeping.startUnder(lock)
  return true
}
