// Tells facts of jobs on node:diagnostics_channel, for instruments that know nothing of this instance. Costs nothing where
// nobody subscribes.

import { type Channel, channel } from 'node:diagnostics_channel'

const enqueued = channel('holdfast:job:enqueue')
const started = channel('holdfast:job:start')
const ended = channel('holdfast:job:end')
const failed = channel('holdfast:job:error')

/** By the name of the event. Each run that started ends once; one that failed is an error first. */
const CHANNELS: Readonly<Record<string, readonly Channel[]>> = {
  'job.enqueued': [enqueued],
  'job.started': [started],
  'job.completed': [ended],
  'job.failed': [failed, ended],
  'job.snoozed': [ended],
  'job.cancelled': [ended],
  'job.released': [ended],
  'job.lost': [ended],
}

export function isSubscribed(event: string): boolean {
  return CHANNELS[event]?.some((each) => each.hasSubscribers) ?? false
}

/** The message is the fact with the name of its event. */
export function publish(event: string, fact: object): void {
  for (const each of CHANNELS[event] ?? []) if (each.hasSubscribers) each.publish({ event, ...fact })
}
