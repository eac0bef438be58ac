import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KeeperThreadData } from './keeper-thread.js'
import { monotonicMs } from './lease-keeper.js'
import { ThreadedKeeping } from './threaded-keeping.js'

// A thread that is there, tells what it hears, and dies of a lease with the id 13.
const FRAIL_THREAD = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', (message) => {
  if (message.kind === 'stop') return parentPort.close()
  if (message.leases?.startsWith('13 ')) process.exit(3)
  if (message.kind === 'load') return parentPort.postMessage({ kind: 'silence', inMs: message.load.loopDelayMs })
  parentPort.postMessage({ kind: 'lost', leases: [{ id: message.kind + ' ' + (message.leases ?? message.ids), token: '', leaseId: '' }] })
})
parentPort.postMessage({ kind: 'ready' })
`
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-thread-'))
  await writeFile(join(folder, 'thread.mjs'), FRAIL_THREAD)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

// A thread that never says that it is ready, and does what the last of its name says.
const BOOTING_THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
parentPort.on('message', (message) => {
  if (message.kind === 'stop') return parentPort.close()
  if (message.leases?.startsWith('13 ')) process.exit(3)
  parentPort.postMessage({ kind: 'lost', leases: [{ id: message.kind + ', takes the lock: ' + workerData.takesLock }] })
  if (message.kind === 'load') parentPort.postMessage({ kind: 'ready' })
})
`

const lease = (id: string) => ({ id, token: '1', leaseId: 'a', leaseMs: 3000 })

function keeping() {
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
  const kept = new ThreadedKeeping({} as KeeperThreadData, facts, join(folder, 'thread.mjs'))
  const hears = (fact: string) => new Promise<void>((heard) => waiting.push({ fact, heard }))
  return { kept, told, hears }
}

test('what is held and dropped reaches the thread, the drops of a moment in one message', async () => {
  const { kept, told, hears } = keeping()
  await kept.start()
  const heard = hears('drop 1,2')
  kept.hold([lease('1'), lease('2')], monotonicMs())
  kept.drop(lease('1'))
  kept.drop(lease('2'))
  await heard

  expect(told).toEqual(['hold 1 1 3000,2 1 3000', 'drop 1,2'])
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

  const heard = hears('hold 7 1 3000')
  kept.hold([lease('7')], monotonicMs())
  await heard
  await kept.stop()
})
