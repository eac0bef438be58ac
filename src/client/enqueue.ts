// Turns what a caller gives into the members of one enqueue: validated, encoded, with keys and options.

import { acceptInput } from '../domain/accept-input.js'
import type { JobDefinition, KeyValue } from '../domain/definition.js'
import { type Duration, durationMs } from '../domain/duration.js'
import { invalidOption } from '../domain/invalid-option.js'
import {
  checkMaxAttempts,
  checkPriority,
  checkQueueName,
  checkTags,
  checkTrace,
  type JobId,
  KEY_POLICIES,
  type KeyPolicy,
} from '../domain/job.js'
import { encodeInput } from '../domain/json.js'
import { canonicalKey } from '../domain/key.js'
import { enqueueJobs } from '../store/enqueue.js'
import type { Store } from '../store/open.js'
import { asQueryable } from '../store/transaction.js'

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
  /** Repeating an enqueue with the same id gives the job that the first one made. */
  readonly dedupeId?: string
  /** The W3C traceparent to be kept with the job; that of the active span by default where OpenTelemetry is set up. */
  readonly trace?: string
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
])

export async function enqueueMembers(
  store: Store,
  definition: JobDefinition,
  inputs: readonly unknown[],
  options: EnqueueManyOptions<unknown>,
): Promise<JobId[]> {
  const common = commonOptions(definition, options)
  const members = await Promise.all(inputs.map((given, index) => member(definition, given, index, options)))
  const tx = options.tx === undefined ? undefined : asQueryable(options.tx)
  // Inside a caller's transaction the commit may come much later than a sleeper's last look, so it always tells.
  return enqueueJobs(store, `[${members.join(',')}]`, JSON.stringify(common), tx ? 'always' : 'sleepers', tx)
}

async function member(
  definition: JobDefinition,
  given: unknown,
  index: number,
  options: EnqueueManyOptions<unknown>,
): Promise<string> {
  // What is stored is what the caller gave: a schema's transforms run when the job is claimed.
  const { schema } = definition
  const input = schema ? acceptInput(definition.type, await schema['~standard'].validate(given)) : given
  const key = options.key ? options.key(given, index) : definition.key?.(input)
  let text = `{"input":${encodeInput(given, 'input')}`
  if (key !== undefined) {
    const keyPolicy = options.keyPolicy ?? definition.keyPolicy
    text += `,"key":${JSON.stringify(canonicalKey(key))},"key_policy":"${keyPolicy}"`
    if (keyPolicy === 'coalesce') text += `,"coalesce":"${options.coalesce ?? definition.coalesce}"`
  }
  if (options.dedupeId) text += `,"dedupe_id":${JSON.stringify(checkDedupeId(options.dedupeId(given, index)))}`
  return `${text}}`
}

function commonOptions(definition: JobDefinition, options: EnqueueManyOptions<unknown>): Record<string, unknown> {
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
    ...(pipelineId !== undefined && { pipeline_id: checkUuid(pipelineId) }),
    ...(tags && { tags: checkTags(tags) }),
    ...(trace !== undefined && { trace: checkTrace(trace) }),
  }
}

function isoTime(runAt: Date): string {
  if (!(runAt instanceof Date) || Number.isNaN(runAt.getTime())) throw invalidOption('runAt', 'a valid Date', runAt)
  return runAt.toISOString()
}

function checkUuid(value: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) throw invalidOption('pipelineId', 'a UUID', value)
  return value
}

function checkDedupeId(value: string): string {
  if (typeof value !== 'string') throw invalidOption('dedupeId', 'a text', value)
  return canonicalKey(value)
}
