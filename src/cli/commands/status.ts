// holdfast status: queues and workers at one glance.

import type { Command } from 'commander'
import type { QueueFacts, WorkerFacts } from '../../client/open.js'
import { type DatabaseFlags, withClient, withDatabase } from '../database.js'
import { ago, print, span, table } from '../terminal.js'

export function addStatus(program: Command): void {
  withDatabase(program.command('status')).description('show queues and workers').action(runStatus)
}

async function runStatus(flags: DatabaseFlags): Promise<void> {
  await withClient(flags, async (open) => {
    const [queues, workers] = [await open.queues(), await open.workers()]
    print(flags, { queues, workers }, () => `${queueTable(queues)}\n\n${workerTable(workers)}`)
  })
}

export function queueTable(queues: readonly QueueFacts[]): string {
  return table(
    ['queue', 'due', 'oldest', 'running', 'workers', 'paused'],
    queues.map(({ name, due, oldestDueAt, running, liveWorkers, pausedAt, pausedBy }) => [
      name,
      atMost(due),
      ago(oldestDueAt),
      atMost(running),
      liveWorkers,
      pausedAt ? `${ago(pausedAt)} by ${pausedBy}` : undefined,
    ]),
    'no queue has jobs or workers',
  )
}

function workerTable(workers: readonly WorkerFacts[]): string {
  return table(
    ['worker', 'version', 'queues', 'slots', 'beat', 'memory', 'loop delay'],
    workers.map((worker) => [
      worker.id,
      worker.version,
      worker.queues.join(', '),
      worker.concurrency,
      `${span(Math.max(0, worker.silentMs))} ago`,
      worker.rssBytes === null ? undefined : `${Math.round(worker.rssBytes / 1e6)} MB`,
      worker.loopDelayMs === null ? undefined : span(worker.loopDelayMs),
    ]),
    'no worker is running',
  )
}

function atMost(count: number): string {
  return count > 10_000 ? '10,000+' : String(count)
}
