// The list of queues, and the counts of the whole installation.

import type { Page } from '../../domain/operate/page.js'
import type { LiveCounts, QueueView } from '../../domain/operate/queue-views.js'
import { call, callOne } from '../connection/call.js'
import { pageBy, toCappedCount } from '../rows/page.js'
import type { Store } from '../store.js'

export async function listQueues(store: Store, after: string, limit: number): Promise<Page<QueueView>> {
  const rows = await call(store, { invocation: 'list_queues_v1($1, $2)' }, [after, limit])
  return pageBy(
    rows,
    limit,
    (row) => row.text('name'),
    (row) => ({
      name: row.text('name'),
      pausedAt: row.momentOrNull('paused_at'),
      pausedBy: row.textOrNull('paused_by'),
      pending: toCappedCount(row, 'pending'),
      due: toCappedCount(row, 'due'),
      parked: toCappedCount(row, 'parked'),
      waiting: toCappedCount(row, 'waiting'),
      running: toCappedCount(row, 'running'),
      oldestDueAt: row.momentOrNull('oldest_due_at'),
      liveWorkers: row.number('live_workers'),
    }),
  )
}

export async function liveCounts(store: Store): Promise<LiveCounts> {
  const row = await callOne(store, { invocation: 'live_counts_v1()' }, [])
  return {
    pending: toCappedCount(row, 'pending'),
    waiting: toCappedCount(row, 'waiting'),
    running: toCappedCount(row, 'running'),
    workers: row.number('workers'),
  }
}
