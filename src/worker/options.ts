// The options of a worker, checked once.

import { type Duration, durationMs } from '../domain/duration.js'
import { invalidOption } from '../domain/invalid-option.js'
import { checkQueueName } from '../domain/job.js'

export interface WorkerOptions {
  /** How many jobs of a queue run at once; default 10. */
  readonly concurrency?: number
  /** Which queues: names, or names with a concurrency of their own. Default: the queues of the jobs that have handlers. */
  readonly queues?: readonly string[] | Readonly<Record<string, number>>
  /** How often to look without being told; default 10 s, or POLL_INTERVAL_SECONDS. */
  readonly poll?: Duration
  /** false behind a pooler that cannot LISTEN; then the worker polls every second. */
  readonly listen?: boolean
  /** How long stop() lets running jobs go on before it signals them; default 25 s. */
  readonly grace?: Duration
  /** How long finished jobs are kept; default 14 d. */
  readonly retention?: Duration
}

export interface CheckedWorkerOptions {
  readonly lanes: ReadonlyMap<string, number>
  readonly pollMs: number
  readonly listen: boolean
  readonly graceMs: number
  readonly retentionMs: number
}

export function checkWorkerOptions(
  options: WorkerOptions,
  ownQueues: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): CheckedWorkerOptions {
  const concurrency = checkConcurrency(options.concurrency ?? 10)
  return {
    lanes: lanesOf(options.queues ?? ownQueues, concurrency),
    pollMs: durationMs(options.poll ?? pollFrom(environment.POLL_INTERVAL_SECONDS), 'poll'),
    listen: options.listen ?? true,
    graceMs: durationMs(options.grace ?? '25s', 'grace'),
    retentionMs: durationMs(options.retention ?? '14d', 'retention'),
  }
}

function lanesOf(queues: NonNullable<WorkerOptions['queues']>, concurrency: number): ReadonlyMap<string, number> {
  const entries = Array.isArray(queues)
    ? (queues as readonly string[]).map((name) => [name, concurrency] as const)
    : Object.entries(queues as Readonly<Record<string, number>>)
  return new Map(entries.map(([name, slots]) => [checkQueueName(name), checkConcurrency(slots)]))
}

function checkConcurrency(slots: number): number {
  if (!Number.isInteger(slots) || slots < 1 || slots > 1000) {
    throw invalidOption('concurrency', 'a whole number from 1 to 1000', slots)
  }
  return slots
}

function pollFrom(seconds: string | undefined): Duration {
  if (seconds === undefined || seconds === '') return '10s'
  if (!/^\d+(\.\d+)?$/.test(seconds) || Number(seconds) <= 0) {
    throw invalidOption('POLL_INTERVAL_SECONDS', 'a positive number', seconds)
  }
  return Number(seconds) * 1000
}
