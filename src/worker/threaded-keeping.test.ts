import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KeeperThreadData } from './keeper-messages.js'
import { monotonicMs } from './lease-keeper.js'
import { ThreadedKeeping } from './threaded-keeping.js'

// A thread that is there, tells what it hears, and dies of a lease with the id 13.
const FRAIL_THREAD = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', (message) => {
  if (message.kind === 'stop') return parentPort.close()
  if (message.leases?.endsWith(' 13')) process.exit(3)
  if (message.kind === 'load') return parentPort.postMessage({ kind: 'silence', inMs: message.load.loopDelayMs })
  parentPort.postMessage({ kind: 'lost', leases: [{ id: message.kind + ' ' + (message.leases ?? message.ids), token: '', leaseId: '' }] })
})
parentPort.postMessage({ kind: 'ready' })
`
// A thread that is ready only when it hears a load, and then tells what it is sent.
const SLOW_THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
const tell = (id) => parentPort.postMessage({ kind: 'lost', leases: [{ id, token: '', leaseId: '' }] })
const heard = []
parentPort.on('message', (message) => {
  if (message.kind === 'stop') return parentPort.close()
  if (message.leases?.endsWith(' 13')) process.exit(3)
  heard.push(message.kind)
  if (message.kind === 'load') parentPort.postMessage({ kind: 'ready' })
  if (message.kind === 'lock' || workerData.takesLock) tell(heard.join())
})
`
// A thread that rests, and is ready if it was woken.
const RESTING_THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
const state = new Int32Array(workerData.rest)
Atomics.wait(state, 0, 0, workerData.restMs)
if (state[0] === 1) {
  parentPort.on('message', (message) => message.kind === 'stop' && parentPort.close())
  parentPort.postMessage({ kind: 'ready' })
}
`
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-thread-'))
  await writeFile(join(folder, 'thread.mjs'), FRAIL_THREAD)
  await writeFile(join(folder, 'slow.mjs'), SLOW_THREAD)
  await writeFile(join(folder, 'resting.mjs'), RESTING_THREAD)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const lease = (id: string) => ({ id, token: '1', leaseId: 'a', leaseMs: 3000 })

function keeping(file = 'thread.mjs') {
  const told: string[] = []
  const waiting: { fact: string; heard: () => void }[] = []
  const tell = (fact: string) => {
    told.push(fact)
    for (const { heard } of waiting.filter((each) => each.fact === fact)) heard()
  }
  const facts = {
    lost: (leases: readonly { id: string }[]) => tell(leases.map(({ id }) => id).join()),
    overdue: (leases: unknown) => tell(`overdue ${leases}`),
    healthy: (isHealthy: boolean) => tell(isHealthy ? 'healthy' : 'not healthy'),
    silence: (inMs: number) => tell(`silence in ${inMs}`),
    unanswered: () => tell('unanswered'),
    fault: (doing: string) => tell(`fault ${doing}`),
  }
  const kept = new ThreadedKeeping({ takesLock: true } as KeeperThreadData, facts, join(folder, file))
  const hears = (fact: string) => new Promise<void>((heard) => waiting.push({ fact, heard }))
  const lock = {
    async release() {
      tell('released')
    },
  }
  return { kept, told, hears, lock }
}

test('what is held and dropped reaches the thread, the drops of a moment in one message', async () => {
  const { kept, told, hears } = keeping()
  await kept.start()
  const heard = hears('drop 1,2')
  kept.hold([lease('1'), lease('2')], monotonicMs())
  kept.drop(lease('1'))
  await new Promise((resolve) => setImmediate(resolve)) // of the next settlement
  kept.drop(lease('2'))
  await heard

  expect(told).toEqual(['hold 1 3000 1,2', 'drop 1,2'])
  await kept.stop()
})

test('a lease that was claimed alone is told without a message', async () => {
  const { kept, told, hears } = keeping()
  await kept.start()
  const heard = hears('silence in 1')
  const alone = { ...lease('1'), leaseId: randomUUID(), leaseMs: 30_000 }
  kept.hold([alone], monotonicMs())
  kept.drop(alone)
  kept.report({ isAlone: true, loopDelayMs: 1 })
  await heard

  expect(told).toEqual(['silence in 1'])
  await kept.stop()
})

test('a load reaches the thread, and what the thread hears of other workers reaches the worker', async () => {
  const { kept, told, hears } = keeping()
  await kept.start()
  const heard = hears('silence in 12')
  kept.report({ isAlone: true, loopDelayMs: 12 })
  await heard

  expect(told).toEqual(['silence in 12'])
  await kept.stop()
})

test('a thread that dies gives everything up and is replaced', async () => {
  const { kept, told, hears } = keeping()
  await kept.start()
  const recovered = hears('healthy')
  kept.hold([lease('13')], monotonicMs())
  await recovered
  expect(told).toEqual(['overdue all', 'not healthy', 'healthy'])

  const heard = hears('hold 1 3000 7')
  kept.hold([lease('7')], monotonicMs())
  await heard
  await kept.stop()
})

test('a thread hears what was held while it booted, and gets the lock once it is ready and the lock is released', async () => {
  const { kept, told, hears, lock } = keeping('slow.mjs')
  const ready = kept.startUnder(lock)
  const heard = hears('hold,load,lock')
  kept.hold([lease('1')], monotonicMs())
  kept.report({ isAlone: true, loopDelayMs: 1 })
  await heard
  await ready

  expect(told).toEqual(['released', 'hold,load,lock'])
  await kept.stop()
})

test('a thread that dies before it is ready is told of and replaced, and the lock is kept for the next', async () => {
  const { kept, told, hears, lock } = keeping('slow.mjs')
  const ready = kept.startUnder(lock)
  const replacing = hears('not healthy')
  kept.hold([lease('13')], monotonicMs())
  await replacing
  expect(told).toEqual(['fault starting the keeper thread', 'overdue all', 'not healthy'])

  const timer = setInterval(() => kept.report({ isAlone: true, loopDelayMs: 1 }), 50)
  await ready
  clearInterval(timer)
  expect(told.slice(3)).toEqual(['released', 'healthy'])
  await kept.stop()
})

test('without a lock a thread that dies before it is ready fails the start', async () => {
  const { kept, told } = keeping('slow.mjs')
  const started = kept.start()
  kept.hold([lease('13')], monotonicMs())

  await expect(started).rejects.toThrow('the keeper thread ended with 3')
  expect(told).toEqual([])
  await kept.stop()
})

test('a stop while the thread boots ends it, tells of no fault and releases the lock', async () => {
  const { kept, told, lock } = keeping('slow.mjs')
  const ready = kept.startUnder(lock)
  await kept.stop()
  await ready

  expect(told).toEqual(['released'])
})

const LONG_MS = 600_000

test('a thread that rests is not waited for by a stop', async () => {
  const { kept, told, lock } = keeping('resting.mjs')
  const ready = kept.startUnder(lock, LONG_MS)
  await kept.stop()
  await ready

  expect(told).toEqual(['released'])
})

test('a thread that rests gets up when it is told to hurry', async () => {
  const { kept, told, lock } = keeping('resting.mjs')
  const ready = kept.startUnder(lock, LONG_MS)
  kept.hurry()
  await ready

  expect(told).toEqual(['released'])
  await kept.stop()
})
