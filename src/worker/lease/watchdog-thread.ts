// The first file of the watchdog thread. Until the renewer is late it loads no driver and opens no connection: it reads the
// renewal clock a few times in three seconds.

import { workerData } from 'node:worker_threads'
import { monotonicMs } from '../monotonic.js'
import { RenewalClock } from './renewal-clock.js'
import type { WatchdogData } from './renewal-watchdog.js'

const data = workerData as WatchdogData
const clock = new RenewalClock(data.clock)
const isNeeded = () => data.bootsAtOnce || clock.hasShortLease || clock.isRenewerLate(monotonicMs())
while (!(clock.isStopped || isNeeded())) clock.block(clock.checkMs)
// Not awaited: Node.js crashes when a thread is terminated while a module with a top-level await executes.
if (!clock.isStopped) void import('./watchdog-takeover.js').then(({ takeOver }) => takeOver(data))
