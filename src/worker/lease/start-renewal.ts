// Starts the renewal of a worker's leases: a renewer in the worker's thread, with a session of its own on a database server, and
// a watchdog thread.

import type { HoldfastError } from '../../domain/error/errors.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { WorkerDescription } from '../../domain/operate/worker-views.js'
import { LeaseLost } from '../../domain/run/abort-reasons.js'
import type { Queryable } from '../../store/connection/connection.js'
import { LastingSession } from '../../store/connection/lasting-session.js'
import { renewLeases } from '../../store/jobs/settle.js'
import { recordHeartbeat, registerWorker, takeWorkerLock, type WorkerLoad } from '../../store/jobs/workers.js'
import type { Store } from '../../store/store.js'
import { monotonicMs } from '../monotonic.js'
import type { RenewalOptions } from '../options.js'
import type { HeldLeases } from './held-leases.js'
import { LeaseRenewer, type LeaseRenewerCalls, type LeaseRenewerListener } from './lease-renewer.js'
import { lossReason } from './loss-reason.js'
import { BOOT_MS, RenewalClock } from './renewal-clock.js'
import { RenewalWatchdog } from './renewal-watchdog.js'

export interface Renewal {
  /** More leases are held than before. */
  leasesAdded(): void
  /** The load of the process, sent with the next heartbeat. */
  report(load: WorkerLoad): void
  stop(): Promise<void>
}

export interface RenewalListener extends Pick<LeaseRenewerListener, 'healthy' | 'silence' | 'unanswered' | 'fault'> {
  /** The lease is lost: the run must stop, for this reason. */
  lost(job: ClaimedJob, reason: HoldfastError): void
}

/**
 * Registers the worker of this row and renews its leases; without a row, those of runs that no worker has claimed. Resolves when
 * leases of `shortestLeaseMs` and longer may be claimed.
 */
export async function startRenewal(
  store: Store,
  row: WorkerDescription | undefined,
  held: HeldLeases,
  listener: RenewalListener,
  options: RenewalOptions & { readonly shortestLeaseMs: number },
): Promise<Renewal> {
  const { address, capabilities } = await store.open()
  const register = async (fresh?: Queryable) => {
    if (row) await registerWorker(store, row, fresh)
  }
  if (!row || !address) {
    await register()
    const renewer = new LeaseRenewer(held, renewerCalls(store, row, register), withReasons(store, listener))
    renewer.start()
    return renewer
  }

  const takesLock = options.takesLock ?? capabilities.sessionLocks
  const session = new LastingSession(address, async (fresh) => {
    await register(fresh)
    if (takesLock) await takeWorkerLock(store, row.id, fresh)
  })
  const clock = new RenewalClock()
  clock.renewerSucceeded(monotonicMs())
  const calls = renewerCalls(store, row, () => session.renew(), session)
  const renewer = new LeaseRenewer(held, calls, withReasons(store, listener), clock)
  const bootsAtOnce = options.shortestLeaseMs < BOOT_MS
  const data = { address, schema: store.schema, worker: row.id, bootsAtOnce }
  const thread = { file: options.watchdogFile }
  const watchdog = options.watchdog ? new RenewalWatchdog(data, clock, listener.fault, thread) : undefined
  const stop = async () => {
    await Promise.all([watchdog?.stop(), renewer.stop()])
    await session.close()
  }
  try {
    await Promise.all([session.open(), watchdog?.start()])
  } catch (error) {
    await stop()
    throw error
  }
  renewer.start()
  return { leasesAdded: () => renewer.leasesAdded(), report: (load) => renewer.report(load), stop }
}

function withReasons(store: Store, listener: RenewalListener): LeaseRenewerListener {
  return {
    lost(jobs) {
      for (const job of jobs) void lossReason(store, job).then((reason) => listener.lost(job, reason))
    },
    overdue(jobs) {
      for (const job of jobs) listener.lost(job, new LeaseLost(`no renewal of job ${job.id} succeeded in time`))
    },
    healthy: listener.healthy,
    silence: listener.silence,
    unanswered: listener.unanswered,
    fault: listener.fault,
  }
}

/** `register` registers the worker again, when another worker has taken it for dead and its row is gone. */
function renewerCalls(
  store: Store,
  row: WorkerDescription | undefined,
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
