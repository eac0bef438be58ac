import { expect, test } from 'vitest'
import { EventHub } from './events.js'

const event = { worker: 'w' }

test('all listeners of an event are called, in the order of their registration', () => {
  const hub = new EventHub()
  const heard: string[] = []
  hub.on('worker.stopped', ({ worker }) => heard.push(`first ${worker}`))
  hub.on('worker.stopped', ({ worker }) => heard.push(`second ${worker}`))
  hub.on('job.reaped', () => heard.push('another name'))

  hub.emit('worker.stopped', event)

  expect(heard).toEqual(['first w', 'second w'])
})

test('a listener that throws does not stop the others, and is reported as a fault', () => {
  const hub = new EventHub()
  const heard: string[] = []
  const faults: unknown[] = []
  hub.on('worker.fault', (fault) => faults.push(fault))
  hub.on('worker.stopped', () => {
    throw new Error('a bad listener')
  })
  hub.on('worker.stopped', () => heard.push('heard'))

  hub.emit('worker.stopped', event)

  expect(heard).toEqual(['heard'])
  expect(faults).toEqual([
    {
      worker: '',
      doing: 'a listener of worker.stopped',
      error: expect.objectContaining({ message: 'a bad listener' }),
    },
  ])
})

test('a fault listener that throws is not reported again', () => {
  const hub = new EventHub()
  let calls = 0
  hub.on('worker.fault', () => {
    calls += 1
    throw new Error('a bad listener')
  })

  hub.emit('worker.fault', { worker: 'w', doing: 'something', error: undefined })

  expect(calls).toBe(1)
})

test('an event is heard while it has a listener', () => {
  const hub = new EventHub()

  expect(hub.isHeard('worker.stopped')).toBe(false)
  const off = hub.on('worker.stopped', () => {})
  expect([hub.isHeard('worker.stopped'), hub.isHeard('worker.started')]).toEqual([true, false])
  off()
  expect(hub.isHeard('worker.stopped')).toBe(false)
})

test('hundreds of listeners are allowed', () => {
  const hub = new EventHub()
  let heard = 0
  const listener = () => {
    heard += 1
  }
  for (let n = 0; n < 500; n += 1) hub.on('worker.stopped', listener)

  hub.emit('worker.stopped', event)

  expect(heard).toBe(500)
})
