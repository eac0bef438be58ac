// Which jobs are meant: the one filter of lists, counts and bulk operations, and what its parts may be.

import { invalidOption } from '../error/invalid-option.js'
import { type Duration, durationMs } from '../value/duration.js'
import { textProblem, utf8Bytes } from '../value/text.js'
import { checkQueueName, checkTags, checkTypeName, JOB_STATES, type JobId, type JobState, toJobId } from './job.js'
import { canonicalKey } from './key.js'

/** Every part that is given must hold; within a list one of its values is enough, but of `tags` a job must have all. */
export interface JobFilter {
  readonly states?: readonly JobState[]
  readonly types?: readonly string[]
  readonly queues?: readonly string[]
  readonly ids?: readonly JobId[]
  /** The stored text of a key, as jobs show it. */
  readonly key?: string
  readonly pipelineId?: string
  readonly tags?: readonly string[]
  /** The worker that has the job, or had it last. */
  readonly worker?: string
  /** A piece of the error's name or message, whatever its case. */
  readonly error?: string
  /**
   * A moment, or a span before now. Finished jobs are measured by when they finished, running ones by when they were claimed,
   * the others by when they were enqueued.
   */
  readonly since?: Date | Duration
  readonly until?: Date | Duration
  readonly input?: readonly InputCondition[]
}

/** `input.address.city=Bern`: what stands at the path, printed as text, is exactly this. */
export interface InputCondition {
  readonly path: readonly string[]
  readonly value: string
}

export const FILTER_LIMITS = {
  /** Values in one list of a filter. */
  values: 50,
  /** UTF-8 bytes of a searched text. */
  textBytes: 512,
  inputConditions: 5,
  /** Steps of the path of one condition. */
  pathSteps: 16,
} as const

const PARTS: ReadonlySet<string> = new Set<keyof JobFilter>([
  'states',
  'types',
  'queues',
  'ids',
  'key',
  'pipelineId',
  'tags',
  'worker',
  'error',
  'since',
  'until',
  'input',
])

/** The filter with every part checked. Throws INVALID_OPTION, naming the part. */
export function checkJobFilter(filter: JobFilter): JobFilter {
  if (typeof filter !== 'object' || filter === null) throw invalidOption('filter', 'an object or a text', filter)
  for (const part of Object.keys(filter)) {
    if (!PARTS.has(part)) throw invalidOption('part of the filter', `one of ${[...PARTS].join(', ')}`, part)
  }
  const { states, types, queues, ids, key, pipelineId, tags, worker, error, since, until, input } = filter
  return Object.freeze({
    ...(states !== undefined && { states: checkList('states', states, checkState) }),
    ...(types !== undefined && { types: checkList('types', types, checkTypeName) }),
    ...(queues !== undefined && { queues: checkList('queues', queues, checkQueueName) }),
    ...(ids !== undefined && { ids: checkList('ids', ids, toJobId) }),
    ...(key !== undefined && { key: canonicalKey(key) }),
    ...(pipelineId !== undefined && { pipelineId: checkPipelineId(pipelineId) }),
    ...(tags !== undefined && { tags: checkTags(tags) }),
    ...(worker !== undefined && { worker: checkText('worker', worker) }),
    ...(error !== undefined && { error: checkText('error', error) }),
    ...(since !== undefined && { since: checkMoment('since', since) }),
    ...(until !== undefined && { until: checkMoment('until', until) }),
    ...(input !== undefined && { input: checkConditions(input) }),
  })
}

export function checkState(state: string): JobState {
  if ((JOB_STATES as readonly string[]).includes(state)) return state as JobState
  throw invalidOption('state', JOB_STATES.join(', '), state)
}

export function checkPipelineId(id: string): string {
  if (typeof id === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id.toLowerCase()
  throw invalidOption('pipelineId', 'a UUID', id)
}

function checkList<T extends string>(what: string, values: readonly T[], check: (value: T) => T): readonly T[] {
  if (!Array.isArray(values)) throw invalidOption(what, 'a list', values)
  if (values.length === 0 || values.length > FILTER_LIMITS.values) {
    throw invalidOption(what, `a list of 1 to ${FILTER_LIMITS.values} values`, values.length)
  }
  return [...new Set(values.map((value: T) => check(value)))]
}

function checkText(what: string, text: string): string {
  const expected = `a text of 1 to ${FILTER_LIMITS.textBytes} bytes that PostgreSQL can store`
  if (typeof text !== 'string' || text === '' || textProblem(text) !== undefined)
    throw invalidOption(what, expected, text)
  if (utf8Bytes(text) > FILTER_LIMITS.textBytes) throw invalidOption(what, expected, text)
  return text
}

function checkMoment(what: string, moment: Date | Duration): Date | Duration {
  if (!(moment instanceof Date)) {
    durationMs(moment, what)
    return moment
  }
  if (!(moment.getTime() >= EARLIEST_MS && moment.getTime() <= LATEST_MS)) {
    throw invalidOption(what, 'a Date of the years 1970 to 9999', moment)
  }
  return moment
}

const EARLIEST_MS = 0
const LATEST_MS = Date.UTC(9999, 11, 31)

function checkConditions(conditions: readonly InputCondition[]): readonly InputCondition[] {
  if (!Array.isArray(conditions)) throw invalidOption('input', 'a list of conditions', conditions)
  if (conditions.length > FILTER_LIMITS.inputConditions) {
    throw invalidOption('input', `at most ${FILTER_LIMITS.inputConditions} conditions`, conditions.length)
  }
  return conditions.map(({ path, value }: InputCondition) => {
    if (!Array.isArray(path) || path.length === 0 || path.length > FILTER_LIMITS.pathSteps) {
      throw invalidOption('path into the input', `1 to ${FILTER_LIMITS.pathSteps} steps`, path)
    }
    for (const step of path) checkText('step of a path into the input', step)
    // The empty text can be searched for, but is no step of a path.
    return { path: [...path], value: value === '' ? value : checkText('value in the input', value) }
  })
}
