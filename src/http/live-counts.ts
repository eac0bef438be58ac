// What is alive now, in all queues or only in those that a principal sees.

import type { Client } from '../client/client.js'
import type { CappedCount, Page } from '../domain/operate/page.js'
import type { LiveCounts, QueueView } from '../domain/operate/queue-views.js'

export async function liveCounts(client: Client, queues: readonly string[] | undefined): Promise<LiveCounts> {
  if (queues === undefined) return client.operator.live()
  const seen = (await allQueues(client)).filter(({ name }) => queues.includes(name))
  return {
    pending: sum(seen.map(({ pending }) => pending)),
    waiting: sum(seen.map(({ waiting }) => waiting)),
    running: sum(seen.map(({ running }) => running)),
    workers: await liveWorkers(client, queues),
  }
}

export function allQueues(client: Client): Promise<QueueView[]> {
  return allRows((after) => client.operator.queues({ ...after, limit: 200 }))
}

// As queues count theirs: a worker that has not recorded for so long is not there.
const LIVE_HEARTBEAT_MS = 10_000

async function liveWorkers(client: Client, queues: readonly string[]): Promise<number> {
  const workers = await allRows((after) => client.operator.workers({ ...after, limit: 200 }))
  return workers.filter(
    (worker) => worker.heartbeatAgeMs < LIVE_HEARTBEAT_MS && worker.queues.some((queue) => queues.includes(queue)),
  ).length
}

function sum(counts: readonly CappedCount[]): CappedCount {
  return {
    count: counts.reduce((total, { count }) => total + count, 0),
    isCapped: counts.some(({ isCapped }) => isCapped),
  }
}

// Queues and workers are few; of a database that holds more than this the first are shown.
const MOST_PAGES = 10

async function allRows<Row>(read: (after: { after?: string }) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  let after: { after?: string } = {}
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { rows: more, next } = await read(after)
    rows.push(...more)
    if (next === null) break
    after = { after: next }
  }
  return rows
}
