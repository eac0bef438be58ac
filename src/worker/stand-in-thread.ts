// The thread that stands in for a keeper that is late. Until it is needed it loads nothing and takes no connection: it looks at
// the watch, a few times in three seconds.

import { workerData } from 'node:worker_threads'
import { KeeperWatch } from './keeper-watch.js'
import { monotonicMs } from './monotonic.js'
import type { StandInData } from './stand-in.js'

const { bootsAtOnce, watch: memory } = workerData as StandInData
const watch = new KeeperWatch(memory)
const isNeeded = () => bootsAtOnce || watch.isShort || watch.isLate(monotonicMs())

while (!(watch.isDismissed || isNeeded())) watch.rest(watch.lookMs)
if (!watch.isDismissed) await import('./stand-in-at-work.js')
