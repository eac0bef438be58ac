import { channel } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { EventHub } from './events.js'

const job = { id: '1', type: 'mail', queue: 'default', attempt: 2 }

test('subscribers receive the start and end of runs, and failures as errors first', () => {
  const heard: unknown[] = []
  const names = ['holdfast:job:enqueue', 'holdfast:job:start', 'holdfast:job:error', 'holdfast:job:end']
  const listeners = names.map((name) => [channel(name), (message: unknown) => heard.push([name, message])] as const)
  for (const [each, listener] of listeners) each.subscribe(listener)
  const hub = new EventHub()
  const failure = { name: 'Error', message: 'no' }

  hub.emit('job.enqueued', { ids: ['1'], type: 'mail', queue: 'default', isClaimed: false })
  hub.emit('job.started', { ...job, waitMs: 3 })
  hub.emit('job.failed', { ...job, ms: 5, failure, isFinal: true })
  hub.emit('job.completed', { ...job, ms: 5 })
  hub.emit('worker.stopped', { worker: 'w' })
  for (const [each, listener] of listeners) each.unsubscribe(listener)
  hub.emit('job.released', job)

  expect(heard).toEqual([
    ['holdfast:job:enqueue', { event: 'job.enqueued', ids: ['1'], type: 'mail', queue: 'default', isClaimed: false }],
    ['holdfast:job:start', { event: 'job.started', ...job, waitMs: 3 }],
    ['holdfast:job:error', { event: 'job.failed', ...job, ms: 5, failure, isFinal: true }],
    ['holdfast:job:end', { event: 'job.failed', ...job, ms: 5, failure, isFinal: true }],
    ['holdfast:job:end', { event: 'job.completed', ...job, ms: 5 }],
  ])
})

test('an event is heard while one of its channels has a subscriber', () => {
  const hub = new EventHub()
  const listener = () => {}

  expect(hub.isHeard('job.started')).toBe(false)
  channel('holdfast:job:start').subscribe(listener)
  expect([hub.isHeard('job.started'), hub.isHeard('job.completed')]).toEqual([true, false])
  channel('holdfast:job:start').unsubscribe(listener)
  expect(hub.isHeard('job.started')).toBe(false)
})
