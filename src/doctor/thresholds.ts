// The values above which a check warns. The caller can set each of them.

import { invalidOption } from '../domain/error/invalid-option.js'
import { type Duration, durationMs } from '../domain/value/duration.js'

export interface Limits {
  /** A transaction that is open for longer keeps dead rows from being removed. */
  readonly transactionMs: number
  /** A job that is due for longer is not only waiting for busy workers. */
  readonly dueMs: number
  readonly clockMs: number
  /** Connections that are left. */
  readonly connections: number
  /** Dead rows in a table of unfinished jobs. */
  readonly deadRows: number
  /** Above these a worker inside a service is better moved out of it. */
  readonly loopDelayMs: number
  readonly jobsPerMinute: number
  readonly memoryMb: number
  readonly chainMs: number
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  transactionMs: 300_000,
  dueMs: 60_000,
  clockMs: 1000,
  connections: 10,
  deadRows: 50_000,
  loopDelayMs: 100,
  jobsPerMinute: 100,
  memoryMb: 4096,
  chainMs: 1000,
})

const SPANS = {
  transaction: 'transactionMs',
  due: 'dueMs',
  clock: 'clockMs',
  'loop-delay': 'loopDelayMs',
  chain: 'chainMs',
} as const
const COUNTS = {
  connections: 'connections',
  'dead-rows': 'deadRows',
  'jobs-per-minute': 'jobsPerMinute',
  'memory-mb': 'memoryMb',
} as const

export const LIMIT_NAMES: readonly string[] = [...Object.keys(SPANS), ...Object.keys(COUNTS)]

/** `transaction=10m` and the like. */
export function readLimits(texts: readonly string[]): Limits {
  const entries = texts.map((text): [keyof Limits, number] => {
    const [name = '', value = ''] = text.split('=', 2)
    if (Object.hasOwn(SPANS, name))
      return [SPANS[name as keyof typeof SPANS], durationMs(value as Duration, `limit ${name}`)]
    if (!Object.hasOwn(COUNTS, name)) throw invalidOption('limit', `one of ${LIMIT_NAMES.join(', ')}`, name)
    if (!/^\d{1,12}$/.test(value)) throw invalidOption(`limit ${name}`, 'a whole number', value)
    return [COUNTS[name as keyof typeof COUNTS], Number(value)]
  })
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(entries) }
}
