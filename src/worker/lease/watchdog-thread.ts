// The thread that stands in for a keeper that is late. Until it is needed it loads nothing and takes no connection: it looks at
// the watch, a few times in three seconds. Dismissed before that, it waits for the next worker's.

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { monotonicMs } from '../monotonic.js'
import { RenewalClock } from './renewal-clock.js'
import type { FirstWatchdogData, WatchdogData } from './watchdog-threads.js'

const first = workerData as FirstWatchdogData
const bell = new Int32Array(first.bell)

let data: WatchdogData = first
while (!isNeeded(data)) data = next()
const { watchdog } = await import('./watchdog-takeover.js')
await watchdog(data)

/** Blocks the thread until it is; false when it was dismissed. */
function isNeeded({ bootsAtOnce, watch: memory }: WatchdogData): boolean {
  const watch = new RenewalClock(memory)
  const isLate = () => bootsAtOnce || watch.isShort || watch.isLate(monotonicMs())
  while (!(watch.isDismissed || isLate())) watch.rest(watch.lookMs)
  return watch.goToWork()
}

/** Blocks the thread until it is told. */
function next(): WatchdogData {
  for (;;) {
    const rung = Atomics.load(bell, 0)
    const told = receiveMessageOnPort(parentPort as MessagePort)
    if (told) return told.message
    Atomics.wait(bell, 0, rung)
  }
}
