// Tells facts of jobs on node:diagnostics_channel, for instruments that know nothing of this instance. Costs nothing where
// nobody subscribes.

import { type Channel, channel } from 'node:diagnostics_channel'
import type { EventName, Events } from './events.js'

const enqueued = channel('holdfast:job:enqueue')
const started = channel('holdfast:job:start')
const ended = channel('holdfast:job:end')
const failed = channel('holdfast:job:error')

/** Each run that started ends once; one that failed is an error first. */
const CHANNELS: { readonly [N in EventName]?: readonly Channel[] } = {
  'job.enqueued': [enqueued],
  'job.started': [started],
  'job.completed': [ended],
  'job.failed': [failed, ended],
  'job.snoozed': [ended],
  'job.cancelled': [ended],
  'job.released': [ended],
  'job.lost': [ended],
}

export function isSubscribed(name: EventName): boolean {
  return CHANNELS[name]?.some((each) => each.hasSubscribers) ?? false
}

/** The message is the fact with the name of its event. */
export function publish<N extends EventName>(event: N, fact: Events[N]): void {
  for (const each of CHANNELS[event] ?? []) if (each.hasSubscribers) each.publish({ event, ...fact })
}
