// How a worker keeps its leases: by a keeper in its own thread, with a session of its own where there can be one, and another
// thread that stands in for it.

import type { Queryable } from '../../store/connection/connection.js'
import { LastingSession } from '../../store/connection/lasting-session.js'
import { renewLeases } from '../../store/jobs/settle.js'
import {
  recordHeartbeat,
  registerWorker,
  takeWorkerLock,
  type WorkerLoad,
  type WorkerRow,
} from '../../store/jobs/workers.js'
import type { Store } from '../../store/store.js'
import { monotonicMs } from '../monotonic.js'
import type { HeldLeases } from './held-leases.js'
import { LeaseRenewer, type LeaseRenewerCalls, type LeaseRenewerListener } from './lease-renewer.js'
import { BOOTED_MS, RenewalClock } from './renewal-clock.js'
import { RenewalWatchdog } from './renewal-watchdog.js'
import { WatchdogThreads } from './watchdog-threads.js'

export interface Renewal {
  /** More is held than before. */
  look(): void
  /** How the process fares; told with a heartbeat. */
  report(load: WorkerLoad): void
  stop(): Promise<void>
}

export interface RenewalOptions {
  /** false: nobody stands in for the keeper, and a blocked event loop loses the leases. */
  readonly thread: boolean
  /** false where a session is not the worker's own: its death is then told by its heartbeat alone. Asked for when undefined. */
  readonly takesLock: boolean | undefined
  /** The file of the thread, where it is not the library's own. */
  readonly threadFile?: string | undefined
}

/**
 * Registers the worker and keeps for it, or without a row for runs that no worker has claimed. Resolves when the worker may
 * claim leases of that length and longer.
 */
export async function startRenewal(
  store: Store,
  row: WorkerRow | undefined,
  held: HeldLeases,
  facts: LeaseRenewerListener,
  options: RenewalOptions & { readonly shortestLeaseMs: number },
): Promise<Renewal> {
  const { address, capabilities } = await store.open()
  const register = async (fresh?: Queryable) => {
    if (row) await registerWorker(store, row, fresh)
  }
  if (!row || !address) {
    await register()
    const keeper = new LeaseRenewer(held, leaseRenewerCalls(store, row, register), facts)
    keeper.start()
    return keeper
  }

  const takesLock = options.takesLock ?? capabilities.sessionLocks
  const session = new LastingSession(address, async (fresh) => {
    await register(fresh)
    if (takesLock) await takeWorkerLock(store, row.id, fresh)
  })
  const watch = new RenewalClock()
  watch.kept(monotonicMs())
  const keeper = new LeaseRenewer(
    held,
    leaseRenewerCalls(store, row, () => session.renew(), session),
    facts,
    watch,
  )
  const bootsAtOnce = options.shortestLeaseMs < BOOTED_MS
  const data = { address, schema: store.schema, worker: row.id, bootsAtOnce }
  const threads = options.threadFile === undefined ? undefined : new WatchdogThreads(options.threadFile, 0)
  const watchdog = options.thread ? new RenewalWatchdog(data, watch, facts.fault, threads) : undefined
  const stop = async () => {
    await Promise.all([watchdog?.stop(), keeper.stop()])
    await session.close()
  }
  try {
    await Promise.all([session.open(), watchdog?.start()])
  } catch (error) {
    await stop()
    throw error
  }
  keeper.start()
  return { look: () => keeper.look(), report: (load) => keeper.report(load), stop }
}

/** `register` says anew that the worker is there, when others have taken it for dead and its leases are gone with its row. */
function leaseRenewerCalls(
  store: Store,
  row: WorkerRow | undefined,
  register: () => Promise<void>,
  session?: Queryable,
): LeaseRenewerCalls {
  return {
    renew: (leases) => renewLeases(store, leases, session),
    async heartbeat(load) {
      if (!row) return undefined
      const heartbeat = { rssBytes: process.memoryUsage.rss(), load }
      const { isKnown, silenceInMs } = await recordHeartbeat(store, row.id, heartbeat, session)
      if (!isKnown) await register()
      return silenceInMs
    },
  }
}
