// Which schedules a caller sees, and what of them.

import type { Client } from '../client/client.js'
import { HoldfastError } from '../domain/error/errors.js'
import { checkJobKey } from '../domain/schedule/define-schedule.js'
import type { Schedule, StoredSettings } from '../domain/schedule/schedule.js'
import type { Caller } from './principal.js'
import type { Redaction } from './redaction.js'

/** Throws JOB_UNKNOWN also when the caller may not see the queue of its jobs. */
export async function visibleSchedule(client: Client, caller: Caller, given: string): Promise<Schedule> {
  const jobKey = checkJobKey(given)
  const schedule = await client.schedules.find(jobKey)
  if (schedule && caller.sees(queueOf(client, schedule))) return schedule
  throw new HoldfastError('JOB_UNKNOWN', `there is no schedule ${JSON.stringify(jobKey)}`, { details: { jobKey } })
}

/** The queue of the jobs that its ticks make. */
export function queueOf(client: Client, { options, type }: Schedule): string {
  return options.queue ?? client.definitions.get(type)?.queue ?? 'default'
}

export function scheduleView({ input, code, ...shown }: Schedule, caller: Caller, redaction: Redaction) {
  const isShown = caller.may('view_input')
  const settings = (one: StoredSettings) => {
    const { input, ...rest } = one
    return isShown ? { ...rest, input: redaction.apply(one.type, input) } : rest
  }
  return {
    ...shown,
    code: code && settings(code),
    ...(isShown && { input: redaction.apply(shown.type, input) }),
    hidden: isShown ? [] : ['input'],
  }
}
