// What a thread that stands in does once it has been needed, or may be at any moment: its own event loop and its own
// connection, so that a worker whose thread is blocked keeps its jobs.

import { setTimeout as pause } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import type { Callee } from '../../store/connection/call.js'
import { LastingSession } from '../../store/connection/lasting-session.js'
import { renewWorker } from '../../store/jobs/settle.js'
import { recordHeartbeat } from '../../store/jobs/workers.js'
import { monotonicMs } from '../monotonic.js'
import { RenewalClock } from './renewal-clock.js'
import type { FromWatchdog, WatchdogData } from './watchdog-threads.js'

// Whoever blocks its thread once does so again: the connection is kept for a while.
const QUIET_MS = 30_000

/** Until it is dismissed. */
export async function watchdog({ address, schema, worker, bootsAtOnce, watch: memory }: WatchdogData): Promise<void> {
  const watch = new RenewalClock(memory)
  const store: Callee = {
    schema,
    open: () => Promise.reject(new Error('a stand-in has one session, and every call goes through it')),
  }
  const session = new LastingSession(address, async () => {})
  const mustBeQuick = () => bootsAtOnce || watch.isShort
  const keep = async (now: number) => {
    await renewWorker(store, worker, session)
    watch.watchdogRenewed(now)
    // A worker that others took for dead holds nothing any more, and registers again when it can.
    await recordHeartbeat(store, worker, { rssBytes: process.memoryUsage.rss(), load: undefined }, session)
  }

  if (mustBeQuick()) await session.open().catch(fault)
  tell({ kind: 'ready' })
  for (let neededAt = monotonicMs(); !watch.isDismissed; await pause(watch.lookMs)) {
    const now = monotonicMs()
    if (watch.isLate(now)) {
      neededAt = now
      await keep(now).catch(fault)
    } else if (now - neededAt > QUIET_MS && !mustBeQuick()) {
      await session.close()
    }
  }
}

function fault(error: unknown): void {
  tell({ kind: 'fault', message: String(error) })
}

function tell(fact: FromWatchdog): void {
  parentPort?.postMessage(fact)
}
