// What the watchdog thread does once it has booted: it renews the leases whenever the renewer is late, with its own event loop
// and its own connection. It ends with its worker.

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

export async function takeOver({ address, schema, worker, bootsAtOnce, clock: memory }: WatchdogData): Promise<void> {
  const clock = new RenewalClock(memory)
  const store: Callee = {
    schema,
    open: () => Promise.reject(new Error('the watchdog has one session, and every call goes through it')),
  }
  const session = new LastingSession(address, async () => {})
  const stopping = new AbortController()
  // The worker sends one message, when it stops. To close the session ends a call that waits for its answer.
  parentPort?.once('message', () => {
    stopping.abort()
    void session.close()
  })
  const staysConnected = () => bootsAtOnce || clock.hasShortLease
  const renew = async (now: number) => {
    await renewWorker(store, worker, session)
    clock.watchdogRenewed(now)
    // A worker that was taken for dead holds nothing any more, and registers again when it can.
    await recordHeartbeat(store, worker, { rssBytes: process.memoryUsage.rss(), load: undefined }, session)
  }

  const reportFault = (error: unknown) => {
    if (!clock.isStopped) post({ kind: 'fault', message: String(error) })
  }
  if (staysConnected()) await session.open().catch(reportFault)
  post({ kind: 'ready' })
  for (let neededAt = monotonicMs(); !clock.isStopped; await pauseUnless(stopping.signal, clock.checkMs)) {
    const now = monotonicMs()
    if (clock.isRenewerLate(now)) {
      neededAt = now
      await renew(now).catch(reportFault)
    } else if (now - neededAt > IDLE_MS && !staysConnected()) {
      await session.close()
    }
  }
  await session.close()
  parentPort?.close()
}

function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  return pause(ms, undefined, { signal }).catch(() => {})
}

function post(message: FromWatchdog): void {
  parentPort?.postMessage(message)
}
