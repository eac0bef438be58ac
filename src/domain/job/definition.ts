// What code says of a type of job: its schema, its limits and, where it can run, its handler.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { HoldfastError } from '../error/errors.js'
import { invalidOption } from '../error/invalid-option.js'
import type { BackoffPolicy } from '../run/backoff.js'
import type { JobContext } from '../run/context.js'
import type { Cancel, Snooze } from '../run/outcome.js'
import { type Duration, durationMs } from '../value/duration.js'
import { checkMaxAttempts, checkPriority, checkQueueName, checkTypeName, KEY_POLICIES, type KeyPolicy } from './job.js'
import { checkRedactedPaths, type RedactedPath } from './redacted-path.js'

/** Handler and key are methods on purpose: a list of definitions with different inputs is still a list of definitions. */
export interface JobDefinition<Type extends string = string, Given = unknown, Input = unknown, Output = unknown> {
  readonly type: Type
  readonly schema: StandardSchemaV1<Given, Input> | undefined
  readonly queue: string
  readonly priority: number
  readonly leaseMs: number
  readonly timeoutMs: number | undefined
  readonly maxAttempts: number
  readonly backoff: BackoffPolicy
  readonly keyPolicy: KeyPolicy
  readonly coalesce: 'replace' | 'keep'
  readonly isolation: Isolation | undefined
  readonly redact: readonly RedactedPath[]
  key?(input: Input): KeyValue | undefined
  run?(input: Input, ctx: JobContext): Output | Promise<Output> | Snooze | Cancel | Promise<Snooze | Cancel>
}

/** Where a handler runs when not in the worker's own thread, and what it may take. */
export interface Isolation {
  readonly kind: 'thread' | 'process'
  /** The module that exports this definition; the isolate imports it to find the handler. */
  readonly module: string
  readonly memoryMb: number
}

/** `undefined` from a key function means: this job has no key. */
export type KeyValue = string | number | boolean | null | object

/** The input that a caller passes to enqueue; the handler gets the schema's output. */
export type GivenOf<J> = J extends JobDefinition<string, infer Given, infer _I, infer _O> ? Given : never
export type OutputOf<J> = J extends JobDefinition<string, infer _G, infer _I, infer Output> ? Output : never

interface CommonOptions<Type extends string> {
  readonly type: Type
  /** Default `default`. */
  readonly queue?: string
  /** 0 to 9, lower first; default 5. */
  readonly priority?: number
  /** How long a claim holds before it must be renewed; default 30 s. Renewal is automatic. */
  readonly lease?: Duration
  /** The run's signal aborts after this; none by default. */
  readonly timeout?: Duration
  readonly retry?: {
    /** Starts in all, the first included; default 3. */
    readonly attempts?: number
    /** The wait before the second attempt; doubled for each further one; default 1 s. */
    readonly base?: Duration
    /** The longest wait; default 1 h. */
    readonly max?: Duration
  }
  /**
   * Runs the handler in a thread or process of its own: a busy loop is really stopped at the timeout, memory is capped, and a
   * crash is a failed attempt of this job only. Needs `module`.
   */
  readonly isolate?: 'thread' | 'process'
  /** `import.meta.url` of the file that exports this definition; with `isolate`. */
  readonly module?: string
  /** Megabytes an isolated run may take; default 256. */
  readonly memory?: number
  /** `exclusive` (default): one at a time. `supersede`: the newest wins. `coalesce`: at most one pending. */
  readonly keyPolicy?: KeyPolicy
  /** With `coalesce`: the pending job takes the newer input (default) or keeps its own. */
  readonly coalesce?: 'replace' | 'keep'
  /** Paths into input and output that the HTTP API never shows, like `card.number` or `recipients.*.email`. */
  readonly redact?: readonly RedactedPath[]
}

interface WithSchema<Type extends string, Given, Input, Returned> extends CommonOptions<Type> {
  /** Any Standard Schema. Checked when enqueued and again when claimed. */
  readonly input: StandardSchemaV1<Given, Input>
  readonly key?: (input: Input) => KeyValue | undefined
  readonly run?: (input: Input, ctx: JobContext) => Returned
}

interface WithoutSchema<Type extends string, Input, Returned> extends CommonOptions<Type> {
  readonly input?: undefined
  readonly key?: (input: Input) => KeyValue | undefined
  readonly run?: (input: Input, ctx: JobContext) => Returned
}

type ReturnedOutput<Returned> = Exclude<Awaited<Returned>, Snooze | Cancel>

/** Describes a job. Without `run` it is a contract: it can be enqueued here, and runs where `handle` adds its handler. */
export function defineJob<const Type extends string, Given, Input, Returned = unknown>(
  options: WithSchema<Type, Given, Input, Returned>,
): JobDefinition<Type, Given, Input, ReturnedOutput<Returned>>
export function defineJob<const Type extends string, Input = unknown, Returned = unknown>(
  options: WithoutSchema<Type, Input, Returned>,
): JobDefinition<Type, Input, Input, ReturnedOutput<Returned>>
export function defineJob(
  options: WithSchema<string, unknown, unknown, unknown> | WithoutSchema<string, unknown, unknown>,
): JobDefinition {
  const type = checkTypeName(options.type)
  const keyPolicy = options.keyPolicy ?? 'exclusive'
  if (!KEY_POLICIES.includes(keyPolicy)) throw invalidOption(`keyPolicy of ${type}`, KEY_POLICIES.join(', '), keyPolicy)
  if (options.input !== undefined && typeof options.input?.['~standard']?.validate !== 'function') {
    throw invalidOption(`input of ${type}`, 'a Standard Schema, as Zod, Valibot and ArkType make them', options.input)
  }
  return Object.freeze({
    type,
    schema: options.input,
    queue: checkQueueName(options.queue ?? 'default'),
    priority: checkPriority(options.priority ?? 5),
    leaseMs: leaseMs(type, options.lease),
    timeoutMs: timeoutMs(type, options.timeout),
    maxAttempts: checkMaxAttempts(options.retry?.attempts ?? 3),
    backoff: backoffPolicy(type, options.retry),
    keyPolicy,
    coalesce: options.coalesce ?? 'replace',
    isolation: isolationOf(options),
    redact: checkRedactedPaths(`redact of ${type}`, options.redact ?? []),
    ...(options.key && { key: options.key }),
    ...(options.run && { run: options.run }),
  })
}

/** Adds the handler to a contract. */
export function handle<Type extends string, Given, Input, Output>(
  contract: JobDefinition<Type, Given, Input, Output>,
  run: NonNullable<JobDefinition<Type, Given, Input, Output>['run']>,
): JobDefinition<Type, Given, Input, Output> {
  return Object.freeze({ ...contract, run })
}

/** Refuses two definitions of one type: which of them would run would be chance. */
export function indexByType(definitions: readonly JobDefinition[]): ReadonlyMap<string, JobDefinition> {
  const byType = new Map<string, JobDefinition>()
  for (const definition of definitions) {
    if (byType.has(definition.type)) {
      throw new HoldfastError('DUPLICATE_TYPE', `two jobs are defined with the type "${definition.type}"`, {
        details: { type: definition.type },
      })
    }
    byType.set(definition.type, definition)
  }
  return byType
}

function leaseMs(type: string, lease: Duration = '30s'): number {
  const ms = durationMs(lease, `lease of ${type}`)
  if (ms < 1000 || ms > 86_400_000) throw invalidOption(`lease of ${type}`, 'from 1s to 1d', lease)
  return ms
}

function isolationOf({ type, isolate, module, memory = 256 }: CommonOptions<string>): Isolation | undefined {
  if (isolate === undefined) return undefined
  if (isolate !== 'thread' && isolate !== 'process')
    throw invalidOption(`isolate of ${type}`, 'thread or process', isolate)
  if (typeof module !== 'string' || module === '') {
    throw invalidOption(
      `module of ${type}`,
      'import.meta.url of the file that exports the job, as isolate needs it',
      module,
    )
  }
  if (!Number.isInteger(memory) || memory < 16 || memory > 65_536) {
    throw invalidOption(`memory of ${type}`, 'megabytes from 16 to 65536', memory)
  }
  return { kind: isolate, module, memoryMb: memory }
}

function timeoutMs(type: string, timeout: Duration | undefined): number | undefined {
  if (timeout === undefined) return undefined
  const ms = durationMs(timeout, `timeout of ${type}`)
  // A timer that is set for longer than 24.8 days fires at once.
  if (ms < 1 || ms > 24 * 86_400_000) throw invalidOption(`timeout of ${type}`, 'from 1ms to 24d', timeout)
  return ms
}

function backoffPolicy(type: string, retry: CommonOptions<string>['retry']): BackoffPolicy {
  const baseMs = durationMs(retry?.base ?? '1s', `retry.base of ${type}`)
  const maxMs = durationMs(retry?.max ?? '1h', `retry.max of ${type}`)
  if (maxMs < baseMs) throw invalidOption(`retry.max of ${type}`, 'at least retry.base', retry?.max)
  return { baseMs, maxMs }
}
