// The thread that keeps a worker's leases. It may rest before it loads what it needs: nothing has to be renewed yet, and the
// worker has just begun to claim and needs the cores. It rests in a thread that is there, so that a worker which blocks its own
// from the first job on cannot keep it from getting up.

import { workerData } from 'node:worker_threads'
import type { KeeperThreadData } from './keeper-messages.js'
import { Rest } from './rest.js'

const { rest, restMs } = workerData as KeeperThreadData
if (new Rest(rest).take(restMs)) await import('./keeper-at-work.js')
