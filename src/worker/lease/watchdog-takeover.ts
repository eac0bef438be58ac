// What the watchdog thread does once it has booted: it renews the leases whenever the renewer is late, with its own event loop
// and its own connection. The worker ends the thread.

import { setTimeout as pause } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import type { Callee } from '../../store/connection/call.js'
import { LastingSession } from '../../store/connection/lasting-session.js'
import { renewWorker } from '../../store/jobs/settle.js'
import { recordHeartbeat } from '../../store/jobs/workers.js'
import { monotonicMs } from '../monotonic.js'
import { RenewalClock } from './renewal-clock.js'
import type { FromWatchdog, WatchdogData } from './renewal-watchdog.js'

// A handler that blocks its thread once does so again: the connection stays open for a while.
const IDLE_MS = 30_000

export async function takeOver({ address, schema, worker, bootsAtOnce, clock: memory }: WatchdogData): Promise<never> {
  const clock = new RenewalClock(memory)
  const store: Callee = {
    schema,
    open: () => Promise.reject(new Error('the watchdog has one session, and every call goes through it')),
  }
  const session = new LastingSession(address, async () => {})
  const staysConnected = () => bootsAtOnce || clock.hasShortLease
  const renew = async (now: number) => {
    await renewWorker(store, worker, session)
    clock.watchdogRenewed(now)
    // A worker that was taken for dead holds nothing any more, and registers again when it can.
    await recordHeartbeat(store, worker, { rssBytes: process.memoryUsage.rss(), load: undefined }, session)
  }

  if (staysConnected()) await session.open().catch(reportFault)
  post({ kind: 'ready' })
  for (let neededAt = monotonicMs(); ; await pause(clock.checkMs)) {
    const now = monotonicMs()
    if (clock.isRenewerLate(now)) {
      neededAt = now
      await renew(now).catch(reportFault)
    } else if (now - neededAt > IDLE_MS && !staysConnected()) {
      await session.close()
    }
  }
}

function reportFault(error: unknown): void {
  post({ kind: 'fault', message: String(error) })
}

function post(message: FromWatchdog): void {
  parentPort?.postMessage(message)
}
