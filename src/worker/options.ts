// The options of a worker, checked once.

import { invalidOption } from '../domain/error/invalid-option.js'
import { checkQueueName } from '../domain/job/job.js'
import { type Duration, durationMs } from '../domain/value/duration.js'
import { type Environment, positiveNumber } from '../domain/value/environment.js'

export interface WorkerOptions {
  /** How many jobs of a queue run at once; default 10. */
  readonly concurrency?: number
  /** Which queues: names, or names with a concurrency of their own. Default: the queues of the jobs that have handlers. */
  readonly queues?: readonly string[] | Readonly<Record<string, number>>
  /** How often to poll without a notification; default 10 s, or POLL_INTERVAL_SECONDS. */
  readonly poll?: Duration
  /** false: the worker polls every second. Default: true unless a pooler is found that LISTEN does not get through. */
  readonly listen?: boolean
  /** false: no regular poll, as by RUN_BACKGROUND_POLLER=false; then only notifications start work. Default true. */
  readonly poller?: boolean
  /**
   * false: no lock is held on a session, and only a missing heartbeat shows that the worker died. Default: true unless a pooler
   * in transaction mode is found.
   */
  readonly sessionLock?: boolean
  /** false: no thread renews leases while a handler blocks the event loop, and they are lost. Default true. */
  readonly watchdog?: boolean
  /** Takes fewer jobs while the event loop is late or the heap is full, so that the service's requests come first. */
  readonly backpressure?: boolean | { readonly delay?: Duration; readonly heap?: number }
  /**
   * false: jobs that become pending when a step ends, or that this process enqueues while it is idle, are only found by the
   * ordinary claim. Default true.
   */
  readonly directHandoff?: boolean
  /** How long stop() waits for running jobs before it signals them; default 25 s. */
  readonly grace?: Duration
  /** How long finished jobs are kept; default 14 d. */
  readonly retention?: Duration
}

/** When a worker claims fewer jobs than it has slots for. */
export interface BackpressureLimits {
  /** Event-loop delay, 90th percentile of the last second. */
  readonly delayMs: number
  /** Share of the heap limit that is used. */
  readonly heapShare: number
}

export const DEFAULT_BACKPRESSURE: BackpressureLimits = { delayMs: 100, heapShare: 0.85 }

export interface RenewalOptions {
  /** false: no thread renews leases while the event loop is blocked. */
  readonly watchdog: boolean
  /** false where a session is shared, so that a lock on it proves nothing. undefined: as the connection is found to be. */
  readonly takesLock: boolean | undefined
  /** The file of the watchdog thread, where it is not the library's own. */
  readonly watchdogFile?: string | undefined
}

export interface CheckedWorkerOptions {
  /** The slots of each queue. */
  readonly queues: ReadonlyMap<string, number>
  readonly pollMs: number
  readonly listen: boolean | undefined
  readonly renewal: RenewalOptions
  readonly backpressure: BackpressureLimits | undefined
  readonly directHandoff: boolean
  readonly graceMs: number
  readonly retentionMs: number
}

export function checkWorkerOptions(
  options: WorkerOptions,
  ownQueues: readonly string[],
  environment: Environment,
): CheckedWorkerOptions {
  const concurrency = checkConcurrency(options.concurrency ?? 10)
  return {
    queues: slotsByQueue(options.queues ?? ownQueues, concurrency),
    pollMs: pollMs(options, environment),
    listen: options.listen,
    renewal: { watchdog: options.watchdog ?? true, takesLock: options.sessionLock },
    backpressure: backpressureLimits(options.backpressure ?? true),
    directHandoff: options.directHandoff ?? true,
    graceMs: graceMs(options.grace ?? '25s'),
    retentionMs: durationMs(options.retention ?? '14d', 'retention'),
  }
}

function slotsByQueue(queues: NonNullable<WorkerOptions['queues']>, concurrency: number): ReadonlyMap<string, number> {
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

const DAY_MS = 86_400_000
// Without its poller a worker still polls once a day: a timer needs some end.
const NO_POLLER_MS = DAY_MS

function pollMs({ poll, poller }: WorkerOptions, environment: Environment): number {
  const isOn = poller ?? !/^(false|0|no|off)$/i.test(environment.RUN_BACKGROUND_POLLER ?? '')
  if (!isOn) return NO_POLLER_MS
  const ms = durationMs(poll ?? positiveNumber(environment, 'POLL_INTERVAL_SECONDS', 10) * 1000, 'poll')
  if (ms < 10 || ms > DAY_MS) throw invalidOption('poll', 'from 10ms to 1d', poll)
  return ms
}

// A timer that is set for longer than 24.8 days fires at once.
function graceMs(grace: Duration): number {
  const ms = durationMs(grace, 'grace')
  if (ms > DAY_MS) throw invalidOption('grace', 'at most 1d', grace)
  return ms
}

function backpressureLimits(option: NonNullable<WorkerOptions['backpressure']>): BackpressureLimits | undefined {
  if (option === false) return undefined
  if (option === true) return DEFAULT_BACKPRESSURE
  const { delay, heap = DEFAULT_BACKPRESSURE.heapShare } = option
  if (!(heap > 0 && heap <= 1)) throw invalidOption('backpressure.heap', 'a share above 0, at most 1', heap)
  return {
    delayMs: delay === undefined ? DEFAULT_BACKPRESSURE.delayMs : durationMs(delay, 'backpressure.delay'),
    heapShare: heap,
  }
}
