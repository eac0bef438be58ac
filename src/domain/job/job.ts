// A job as data, and the rules that its parts obey.

import { invalidOption } from '../error/invalid-option.js'
import type { StepResults } from '../pipeline/step-results.js'
import type { Failure } from '../run/failure.js'
import { LIMITS } from '../value/sizes.js'
import { textProblem, utf8Bytes } from '../value/text.js'

/** A PostgreSQL bigint as text: JavaScript numbers are exact only up to 2^53. */
export type JobId = string

/** A job's id as callers may have it. */
export type AnyJobId = string | number | bigint

export const JOB_STATES = ['pending', 'waiting', 'running', 'completed', 'failed', 'cancelled', 'superseded'] as const
export type JobState = (typeof JOB_STATES)[number]

export const FINAL_STATES = ['completed', 'failed', 'cancelled', 'superseded'] as const satisfies readonly JobState[]

export function isFinalState(state: JobState): boolean {
  return (FINAL_STATES as readonly JobState[]).includes(state)
}

export const KEY_POLICIES = ['exclusive', 'supersede', 'coalesce'] as const
export type KeyPolicy = (typeof KEY_POLICIES)[number]

/** A job as a reader sees it at one moment. */
export interface Job {
  readonly id: JobId
  readonly type: string
  readonly queue: string
  /** 0 to 9, the lower the sooner. */
  readonly priority: number
  readonly state: JobState
  readonly input: unknown
  readonly output: unknown
  readonly error: Failure | null
  readonly key: string | null
  readonly keyPolicy: KeyPolicy | null
  /** The latest started job of its key. */
  readonly isCurrent: boolean
  readonly attempts: number
  readonly maxAttempts: number
  /** Grows with each claim and never resets; a bigint as text. */
  readonly token: string
  readonly lockedBy: string | null
  readonly lockedAt: Date | null
  readonly lockedUntil: Date | null
  /** 0 to 1. */
  readonly progress: number | null
  readonly statusMessage: string | null
  readonly pipelineId: string | null
  /** Its name in its pipeline. */
  readonly step: string | null
  readonly tags: readonly string[]
  readonly dedupeId: string | null
  /** The W3C traceparent of what enqueued it. */
  readonly trace: string | null
  readonly createdAt: Date
  readonly runAt: Date
  readonly finishedAt: Date | null
}

/** A job as its holder gets it. Every write of the holder presents `token` and `leaseId`. */
export interface ClaimedJob {
  readonly id: JobId
  readonly type: string
  readonly queue: string
  readonly priority: number
  readonly input: unknown
  readonly token: string
  readonly leaseId: string
  /** This attempt included. */
  readonly attempts: number
  readonly maxAttempts: number
  readonly key: string | null
  readonly pipelineId: string | null
  readonly tags: readonly string[]
  /** How long the lease held when it was claimed. */
  readonly leaseMs: number
  /** The W3C traceparent of what enqueued it. */
  readonly trace: string | null
  /** When it could have started, by the database's clock. */
  readonly dueAtMs: number
  /** What its input is to be computed from, where the claim brought it along. */
  readonly facts?: StepResults | undefined
}

export function toJobId(value: AnyJobId): JobId {
  // Beyond 2^53 a number may already stand for a neighbour; what is no number or text could still print as one.
  const isExact = typeof value === 'string' || typeof value === 'bigint' || Number.isSafeInteger(value)
  const text = isExact ? String(value) : ''
  if (!/^[1-9]\d{0,18}$/.test(text) || BigInt(text) > MAX_BIGINT) {
    throw invalidOption('job id', 'a positive whole number up to 9223372036854775807', value)
  }
  return text
}

const MAX_BIGINT = 2n ** 63n - 1n

export function checkPriority(priority: number): number {
  return checkedInteger('priority', priority, 0, LIMITS.priority)
}

export function checkMaxAttempts(maxAttempts: number): number {
  return checkedInteger('maxAttempts', maxAttempts, 1, LIMITS.maxAttempts)
}

function checkedInteger(what: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw invalidOption(what, `a whole number from ${least} to ${most}`, value)
  }
  return value
}

export function checkQueueName(name: string): string {
  return checkLabel('queue name', name, LIMITS.nameBytes)
}

export function checkTypeName(name: string): string {
  return checkLabel('job type', name, LIMITS.nameBytes)
}

export function checkLabel(what: string, name: string, maxBytes: number): string {
  if (!isLabel(name) || utf8Bytes(name) > maxBytes) {
    throw invalidOption(what, `a text of 1 to ${maxBytes} bytes without control characters`, name)
  }
  return name
}

export function checkTrace(trace: string): string {
  if (typeof trace !== 'string' || !/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(trace)) {
    throw invalidOption('trace', 'a W3C traceparent', trace)
  }
  return trace
}

export function checkTags(tags: readonly string[]): readonly string[] {
  if (!Array.isArray(tags)) throw invalidOption('tags', 'a list of texts', tags)
  if (tags.length > LIMITS.tags) throw invalidOption('tags', `at most ${LIMITS.tags} tags`, tags.length)
  for (const tag of tags as readonly string[]) {
    if (!isLabel(tag) || [...tag].length > LIMITS.tagCharacters) {
      throw invalidOption('tag', `a text of 1 to ${LIMITS.tagCharacters} characters without control characters`, tag)
    }
  }
  return tags
}

/** A text that can be shown in one line and stored. */
function isLabel(text: unknown): boolean {
  // No limit here allows more: 100 characters are at most 200 units.
  if (typeof text !== 'string' || text === '' || text.length > 200) return false
  return textProblem(text) === undefined && !/\p{Cc}/u.test(text)
}
