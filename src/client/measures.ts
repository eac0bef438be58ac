// Gauges of the whole installation, from questions that never read a whole table.

import { listQueues } from '../store/reads/queues.js'
import { workerDetails } from '../store/reads/workers.js'
import { databaseNow, dueSchedules } from '../store/schedules/schedules.js'
import type { Store } from '../store/store.js'

export interface QueueMeasure {
  readonly queue: string
  /** Claimable now, counted up to 10,000. */
  readonly due: number
  readonly running: number
  /** How long the oldest of them has been due; 0 when none is. */
  readonly oldestAgeMs: number
  readonly isPaused: boolean
}

export interface Measures {
  /** The first 200 by name. */
  readonly queues: readonly QueueMeasure[]
  /** Workers that were heard of lately. */
  readonly workers: number
  /** How many jobs they could run at once. */
  readonly slots: number
  /** How long the most overdue schedule has waited for its tick; 0 when none is due. */
  readonly scheduleLagMs: number
}

// Several heartbeats: a worker that was silent for longer is dying or dead.
const SILENT_MS = 10_000

export async function readMeasures(store: Store): Promise<Measures> {
  const now = (await databaseNow(store)).getTime()
  const { rows: queues } = await listQueues(store, '', 200)
  const living = (await workerDetails(store)).filter(({ heartbeatAgeMs }) => heartbeatAgeMs < SILENT_MS)
  const ticks = (await dueSchedules(store, [])).due.map(({ nextTick }) => nextTick?.getTime() ?? now)
  return {
    queues: queues.map(({ name, due, running, oldestDueAt, pausedAt }) => ({
      queue: name,
      due: due.count,
      running: running.count,
      oldestAgeMs: oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt.getTime()),
      isPaused: pausedAt !== null,
    })),
    workers: living.length,
    slots: living.reduce((sum, { concurrency }) => sum + concurrency, 0),
    scheduleLagMs: Math.max(0, now - Math.min(now, ...ticks)),
  }
}
