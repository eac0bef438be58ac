// holdfast status: queues and workers at one glance.

import type { Command } from 'commander'
import type { WorkerDetails } from '../../client/open.js'
import type { CappedCount } from '../../domain/operate/page.js'
import type { QueueView } from '../../domain/operate/queue-views.js'
import { type DatabaseFlags, withClient, withDatabase } from '../database.js'
import { ago, print, span, table } from '../terminal.js'

export function addStatus(program: Command): void {
  withDatabase(program.command('status')).description('show queues and workers').action(runStatus)
}

async function runStatus(flags: DatabaseFlags): Promise<void> {
  await withClient(flags, async (open) => {
    const { rows: queues } = await open.client.operator.queues({ limit: 200 })
    const workers = await open.workers()
    print(flags, { queues, workers }, () => `${queueTable(queues)}\n\n${workerTable(workers)}`)
  })
}

export function queueTable(queues: readonly QueueView[]): string {
  return table(
    ['queue', 'pending', 'due', 'oldest', 'running', 'workers', 'paused'],
    queues.map(({ name, pending, due, oldestDueAt, running, liveWorkers, pausedAt, pausedBy }) => [
      name,
      atMost(pending),
      atMost(due),
      ago(oldestDueAt),
      atMost(running),
      liveWorkers,
      pausedAt ? `${ago(pausedAt)} by ${pausedBy}` : undefined,
    ]),
    'no queue has jobs or workers',
  )
}

function workerTable(workers: readonly WorkerDetails[]): string {
  return table(
    ['worker', 'version', 'queues', 'slots', 'heartbeat', 'memory', 'loop delay'],
    workers.map((worker) => [
      worker.id,
      worker.version,
      worker.queues.join(', '),
      worker.concurrency,
      `${span(Math.max(0, worker.heartbeatAgeMs))} ago`,
      worker.rssBytes === null ? undefined : `${Math.round(worker.rssBytes / 1e6)} MB`,
      worker.loopDelayMs === null ? undefined : span(worker.loopDelayMs),
    ]),
    'no worker is running',
  )
}

function atMost({ count, isCapped }: CappedCount): string {
  return isCapped ? `${count}+` : String(count)
}
