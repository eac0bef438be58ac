// The options of an enqueue, checked and in the words of the database.

import { invalidOption } from '../error/invalid-option.js'
import { type Duration, durationMs } from '../value/duration.js'
import type { JobDefinition, KeyValue } from './definition.js'
import {
  checkMaxAttempts,
  checkPriority,
  checkQueueName,
  checkTags,
  checkTrace,
  KEY_POLICIES,
  type KeyPolicy,
} from './job.js'
import { checkPipelineId } from './job-filter.js'

export interface EnqueueOptions {
  /** The client or transaction of your own writes: the job exists if and only if they commit. */
  readonly tx?: unknown
  readonly queue?: string
  /** 0 to 9, lower first. */
  readonly priority?: number
  readonly runAt?: Date
  readonly delay?: Duration
  /** What must not run twice at once; overrides the definition's. */
  readonly key?: KeyValue
  readonly keyPolicy?: KeyPolicy
  readonly coalesce?: 'replace' | 'keep'
  readonly maxAttempts?: number
  readonly pipelineId?: string
  readonly tags?: readonly string[]
  /** A repeated enqueue with the same id returns the job of the first one. */
  readonly dedupeId?: string
  /** The W3C traceparent to be kept with the job; that of the active span by default where OpenTelemetry is set up. */
  readonly trace?: string
  /** Who enqueues it by hand: written into the audit in the same transaction. */
  readonly actor?: string
}

/** For many at once an option that differs by input is a function of it. */
export interface EnqueueManyOptions<Given> extends Omit<EnqueueOptions, 'dedupeId' | 'key'> {
  readonly dedupeId?: (input: Given, index: number) => string
  readonly key?: (input: Given, index: number) => KeyValue | undefined
}

const KNOWN: ReadonlySet<string> = new Set([
  'tx',
  'queue',
  'priority',
  'runAt',
  'delay',
  'key',
  'keyPolicy',
  'coalesce',
  'maxAttempts',
  'pipelineId',
  'tags',
  'dedupeId',
  'trace',
  'actor',
])

/** What all members of one enqueue share, in the words of the database. */
export interface CommonOptions {
  readonly type: string
  readonly queue: string
  readonly priority: number
  readonly max_attempts: number
  readonly run_at?: string
  readonly delay?: number
  readonly pipeline_id?: string
  readonly tags?: readonly string[]
  readonly trace?: string
}

/** None at all, which is what most enqueues have. */
export const NO_OPTIONS: EnqueueManyOptions<unknown> = Object.freeze({})

// Cached per definition, which does not change: computing it for each call costs 2 % of an enqueue.
const WITHOUT_OPTIONS = new WeakMap<JobDefinition, CommonOptions>()

export function commonOptions(definition: JobDefinition, options: EnqueueManyOptions<unknown>): CommonOptions {
  if (options !== NO_OPTIONS) return checkedOptions(definition, options)
  let common = WITHOUT_OPTIONS.get(definition)
  if (common === undefined) {
    common = Object.freeze(checkedOptions(definition, options))
    if (Object.isFrozen(definition)) WITHOUT_OPTIONS.set(definition, common)
  }
  return common
}

function checkedOptions(definition: JobDefinition, options: EnqueueManyOptions<unknown>): CommonOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw invalidOption('option', `one of ${[...KNOWN].join(', ')}`, name)
  }
  const { queue, priority, runAt, delay, maxAttempts, pipelineId, tags, trace, keyPolicy, coalesce } = options
  if (runAt !== undefined && delay !== undefined) throw invalidOption('delay', 'absent when runAt is given', delay)
  if (keyPolicy !== undefined && !KEY_POLICIES.includes(keyPolicy)) {
    throw invalidOption('keyPolicy', KEY_POLICIES.join(', '), keyPolicy)
  }
  if (coalesce !== undefined && coalesce !== 'replace' && coalesce !== 'keep') {
    throw invalidOption('coalesce', 'replace or keep', coalesce)
  }
  return {
    type: definition.type,
    queue: checkQueueName(queue ?? definition.queue),
    priority: checkPriority(priority ?? definition.priority),
    max_attempts: checkMaxAttempts(maxAttempts ?? definition.maxAttempts),
    ...(runAt && { run_at: isoTime(runAt) }),
    ...(delay !== undefined && { delay: durationMs(delay, 'delay') }),
    ...(pipelineId !== undefined && { pipeline_id: checkPipelineId(pipelineId) }),
    ...(tags && { tags: checkTags(tags) }),
    ...(trace !== undefined && { trace: checkTrace(trace) }),
  }
}

function isoTime(runAt: Date): string {
  if (!(runAt instanceof Date) || Number.isNaN(runAt.getTime())) throw invalidOption('runAt', 'a valid Date', runAt)
  return runAt.toISOString()
}
