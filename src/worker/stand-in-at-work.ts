// What a thread that stands in does once it has been needed, or may be at any moment: its own event loop and its own
// connection, so that a worker whose thread is blocked keeps its jobs.

import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Callee } from '../store/call.js'
import { KeptSession } from '../store/kept-session.js'
import { renewWorker } from '../store/settle.js'
import { beatWorker } from '../store/workers.js'
import { KeeperWatch } from './keeper-watch.js'
import { monotonicMs } from './monotonic.js'
import type { FromStandIn, StandInData } from './stand-in.js'

// Whoever blocks its thread once does so again: the connection is kept for a while.
const QUIET_MS = 30_000

const { address, schema, worker, bootsAtOnce, watch: memory } = workerData as StandInData
const watch = new KeeperWatch(memory)
const store: Callee = {
  schema,
  open: () => Promise.reject(new Error('a stand-in has one session, and every call goes through it')),
}
const session = new KeptSession(address, async () => {})
const tell = (fact: FromStandIn) => parentPort?.postMessage(fact)
const fault = (error: unknown) => tell({ kind: 'fault', message: String(error) })

const mustBeQuick = () => bootsAtOnce || watch.isShort

if (mustBeQuick()) await session.open().catch(fault)
tell({ kind: 'ready' })
for (let neededAt = monotonicMs(); !watch.isDismissed; await pause(watch.lookMs)) {
  const now = monotonicMs()
  if (watch.isLate(now)) {
    neededAt = now
    await standIn(now).catch(fault)
  } else if (now - neededAt > QUIET_MS && !mustBeQuick()) {
    await session.close()
  }
}

async function standIn(now: number): Promise<void> {
  await renewWorker(store, worker, session)
  watch.standInRenewed(now)
  // A worker that others took for dead holds nothing any more, and registers again when it can.
  await beatWorker(store, worker, { rssBytes: process.memoryUsage.rss(), load: undefined }, session)
}
