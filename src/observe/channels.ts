// Publishes lifecycle events of jobs on node:diagnostics_channel, for instruments that have no reference to this instance.
// Costs nothing without a subscriber.

import { type Channel, channel } from 'node:diagnostics_channel'

const enqueued = channel('holdfast:job:enqueue')
const started = channel('holdfast:job:start')
const ended = channel('holdfast:job:end')
const failed = channel('holdfast:job:error')

/** The channels of each event. A run that started ends once; a failed one is published as an error first. */
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

/** The message is the event's payload together with its name. */
export function publish(event: string, payload: object): void {
  for (const each of CHANNELS[event] ?? []) if (each.hasSubscribers) each.publish({ event, ...payload })
}
