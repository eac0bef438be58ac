// The input of a tick's job, checked by the job's schema, and its key.

import { HoldfastError } from '../domain/error/errors.js'
import { acceptInput } from '../domain/job/accept-input.js'
import type { JobDefinition } from '../domain/job/definition.js'
import type { KeyPolicy } from '../domain/job/job.js'
import { canonicalKey } from '../domain/job/key.js'
import type { ScheduleDefinition } from '../domain/schedule/define-schedule.js'
import { encodeInput } from '../domain/value/json.js'

export interface TickInput {
  /** JSON text. */
  readonly input: string
  readonly key?: { readonly key: string; readonly keyPolicy: KeyPolicy; readonly coalesce?: 'replace' | 'keep' }
}

/** `job` is undefined where only the type's name is known: then nothing is checked and there is no key. */
export async function tickInput(job: JobDefinition | undefined, given: unknown): Promise<TickInput> {
  const input = encodeInput(given, 'input')
  if (!job) return { input }
  const accepted = job.schema ? acceptInput(job.type, await job.schema['~standard'].validate(given)) : given
  const key = job.key?.(accepted)
  if (key === undefined) return { input }
  const { keyPolicy, coalesce } = job
  return { input, key: { key: canonicalKey(key), keyPolicy, ...(keyPolicy === 'coalesce' && { coalesce }) } }
}

// A function that never returns must not block its schedule for ever.
const PATIENCE_MS = 10_000

/** Runs the schedule's own function; throws what it throws, or TIMED_OUT after ten seconds. */
export async function computedInput(
  { jobKey, inputOf }: ScheduleDefinition,
  job: JobDefinition | undefined,
  tick: Date,
): Promise<TickInput> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new HoldfastError('TIMED_OUT', `the input of ${jobKey} was not there after ${PATIENCE_MS / 1000} s`)
    timer = setTimeout(() => reject(error), PATIENCE_MS)
  })
  try {
    return await tickInput(job, await Promise.race([inputOf?.({ tick }), late]))
  } finally {
    clearTimeout(timer)
  }
}
