// How a worker keeps its leases: by a keeper in its own thread, with a session of its own where there can be one, and another
// thread that stands in for it.

import type { Queryable } from '../../store/connection/connection.js'
import { KeptSession } from '../../store/connection/lasting-session.js'
import { renewLeases } from '../../store/jobs/settle.js'
import {
  beatWorker,
  holdWorkerLock,
  registerWorker,
  type WorkerLoad,
  type WorkerRow,
} from '../../store/jobs/workers.js'
import type { Store } from '../../store/store.js'
import { monotonicMs } from '../monotonic.js'
import type { HeldJobs } from './held-leases.js'
import { type KeeperDeeds, type KeeperFacts, LeaseKeeper } from './lease-renewer.js'
import { BOOTED_MS, KeeperWatch } from './renewal-clock.js'
import { StandIn } from './renewal-watchdog.js'
import { StandInThreads } from './watchdog-threads.js'

export interface Keeping {
  /** More is held than before. */
  look(): void
  /** How the process fares; told with a beat. */
  report(load: WorkerLoad): void
  stop(): Promise<void>
}

export interface KeepingOptions {
  /** false: nobody stands in for the keeper, and a blocked event loop loses the leases. */
  readonly thread: boolean
  /** false where a session is not the worker's own: its death is then told by its beat alone. Asked for when undefined. */
  readonly takesLock: boolean | undefined
  /** The file of the thread, where it is not the library's own. */
  readonly threadFile?: string | undefined
}

/**
 * Registers the worker and keeps for it, or without a row for runs that no worker has claimed. Resolves when the worker may
 * claim leases of that length and longer.
 */
export async function startKeeping(
  store: Store,
  row: WorkerRow | undefined,
  held: HeldJobs,
  facts: KeeperFacts,
  options: KeepingOptions & { readonly shortestLeaseMs: number },
): Promise<Keeping> {
  const { address, capabilities } = await store.open()
  const register = async (fresh?: Queryable) => {
    if (row) await registerWorker(store, row, fresh)
  }
  if (!row || !address) {
    await register()
    const keeper = new LeaseKeeper(held, keeperDeeds(store, row, register), facts)
    keeper.start()
    return keeper
  }

  const takesLock = options.takesLock ?? capabilities.sessionLocks
  const session = new KeptSession(address, async (fresh) => {
    await register(fresh)
    if (takesLock) await holdWorkerLock(store, row.id, fresh)
  })
  const watch = new KeeperWatch()
  watch.kept(monotonicMs())
  const keeper = new LeaseKeeper(
    held,
    keeperDeeds(store, row, () => session.renew(), session),
    facts,
    watch,
  )
  const bootsAtOnce = options.shortestLeaseMs < BOOTED_MS
  const data = { address, schema: store.schema, worker: row.id, bootsAtOnce }
  const threads = options.threadFile === undefined ? undefined : new StandInThreads(options.threadFile, 0)
  const standIn = options.thread ? new StandIn(data, watch, facts.fault, threads) : undefined
  const stop = async () => {
    await Promise.all([standIn?.stop(), keeper.stop()])
    await session.close()
  }
  try {
    await Promise.all([session.open(), standIn?.start()])
  } catch (error) {
    await stop()
    throw error
  }
  keeper.start()
  return { look: () => keeper.look(), report: (load) => keeper.report(load), stop }
}

/** `register` says anew that the worker is there, when others have taken it for dead and its leases are gone with its row. */
function keeperDeeds(
  store: Store,
  row: WorkerRow | undefined,
  register: () => Promise<void>,
  session?: Queryable,
): KeeperDeeds {
  return {
    renew: (leases) => renewLeases(store, leases, session),
    async beat(load) {
      if (!row) return undefined
      const beat = { rssBytes: process.memoryUsage.rss(), load }
      const { isKnown, silenceInMs } = await beatWorker(store, row.id, beat, session)
      if (!isKnown) await register()
      return silenceInMs
    },
  }
}
