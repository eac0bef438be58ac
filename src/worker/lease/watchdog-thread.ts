// The first file of the watchdog thread. Until the renewer is late it loads no driver and opens no connection: it reads the
// renewal clock a few times in three seconds.

import { workerData } from 'node:worker_threads'
import { monotonicMs } from '../monotonic.js'
import { RenewalClock } from './renewal-clock.js'
import type { WatchdogData } from './renewal-watchdog.js'

const data = workerData as WatchdogData
const clock = new RenewalClock(data.clock)
while (!(data.bootsAtOnce || clock.hasShortLease || clock.isRenewerLate(monotonicMs()))) clock.block(clock.checkMs)
const { takeOver } = await import('./watchdog-takeover.js')
await takeOver(data)
