// Which jobs a list command means: its options in, jobs out. The one place that knows how lists are asked for.

import type { OpenClient } from '../client/open.js'
import { invalidOption } from '../domain/invalid-option.js'
import { checkQueueName, checkTypeName, JOB_STATES, type Job, type JobState, toJobId } from '../domain/job.js'

export interface ListFlags {
  readonly state?: readonly string[]
  readonly type?: string
  readonly queue?: string
  readonly before?: string
  readonly limit?: string
}

export function listJobs(open: OpenClient, flags: ListFlags): Promise<Job[]> {
  return open.latest({
    states: flags.state?.map(checkState),
    type: flags.type === undefined ? undefined : checkTypeName(flags.type),
    queue: flags.queue === undefined ? undefined : checkQueueName(flags.queue),
    before: flags.before === undefined ? undefined : toJobId(flags.before),
    limit: checkLimit(flags.limit ?? '50'),
  })
}

function checkState(text: string): JobState {
  const state = JOB_STATES.find((known) => known === text)
  if (state) return state
  throw invalidOption('--state', JOB_STATES.join(', '), text)
}

function checkLimit(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1000) return Number(text)
  throw invalidOption('--limit', 'a whole number from 1 to 1000', text)
}
