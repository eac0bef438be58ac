import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker as Thread } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { RenewalClock } from './renewal-clock.js'
import { RenewalWatchdog, type WatchdogData } from './renewal-watchdog.js'

// Counts its start in the second word, waits for the first or for the stop, then boots and reports a fault, or dies.
const THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
const word = new Int32Array(workerData.word)
Atomics.add(word, 1, 1)
Atomics.notify(word, 1)
const clock = new BigInt64Array(workerData.clock)
while (Atomics.load(word, 0) === 0 && Atomics.load(clock, 3) === 0n) Atomics.wait(word, 0, 0, 5)
if (Atomics.load(word, 0) === 2) process.exit(3)
if (Atomics.load(word, 0) === 1) {
  parentPort.postMessage({ kind: 'ready' })
  parentPort.postMessage({ kind: 'fault', message: 'no answer' })
  parentPort.once('message', () => parentPort.close())
}
`
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-thread-'))
  await writeFile(join(folder, 'thread.mjs'), THREAD)
})
afterAll(() => rm(folder, { recursive: true, force: true }))
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Its threads wait until send() lets them boot or die. */
function watchdog({ bootsAtOnce = false, replaceMs = 1 } = {}) {
  const word = new Int32Array(new SharedArrayBuffer(8))
  const faults: string[] = []
  let onFaultSeen = () => {}
  const data = { bootsAtOnce, word: word.buffer } as unknown as WatchdogData
  const onFault = (_: string, error: unknown) => {
    faults.push(String(error))
    onFaultSeen()
  }
  const subject = new RenewalWatchdog(data, new RenewalClock(), onFault, {
    file: join(folder, 'thread.mjs'),
    replaceMs,
  })
  const send = (what: 'boot' | 'die') => {
    Atomics.store(word, 0, what === 'boot' ? 1 : 2)
    Atomics.notify(word, 0)
  }
  const faultSeen = () =>
    new Promise<void>((resolve) => {
      onFaultSeen = resolve
    })
  const threads = async (n: number) => {
    for (let seen = Atomics.load(word, 1); seen < n; seen = Atomics.load(word, 1)) {
      await Atomics.waitAsync(word, 1, seen).value
    }
  }
  return { subject, send, faults, faultSeen, threads }
}

test('the worker does not wait for a thread that need not boot yet, and its faults are reported later', async () => {
  const { subject, send, faults, faultSeen } = watchdog()
  await subject.start()

  const seen = faultSeen()
  send('boot')
  await seen
  expect(faults).toEqual(['Error: no answer'])
  await subject.stop()
})

test('the worker waits for a thread that boots at once', async () => {
  const { subject, send, threads } = watchdog({ bootsAtOnce: true })
  let isStarted = false
  const started = subject.start().then(() => {
    isStarted = true
  })
  await threads(1)
  expect(isStarted).toBe(false)

  send('boot')
  await started
  await subject.stop()
})

test('a thread that boots at once and dies fails the start', async () => {
  const { subject, send } = watchdog({ bootsAtOnce: true })
  send('die')

  await expect(subject.start()).rejects.toThrow('the thread of the renewal watchdog ended with exit code 3')
  await subject.stop()
})

test('a thread that dies later is replaced', async () => {
  const { subject, send, threads } = watchdog()
  await subject.start()
  await threads(1)

  send('die')
  await threads(2)
  await subject.stop()
})

// To terminate a thread that boots can crash the process.
test.each(['boots', 'waits', 'has booted'])('a stop lets a thread that %s end by itself', async (what) => {
  const { subject, send, threads, faultSeen } = watchdog()
  const terminate = vi.spyOn(Thread.prototype, 'terminate')
  await subject.start()
  if (what !== 'boots') await threads(1)
  if (what === 'has booted') {
    const seen = faultSeen()
    send('boot')
    await seen
  }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })

  await subject.stop()

  expect(terminate).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0) // no replacement is due
})

test('a stop cancels a replacement that is due', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { subject, send } = watchdog({ bootsAtOnce: true })
  send('die')
  await expect(subject.start()).rejects.toThrow()
  expect(vi.getTimerCount()).toBe(1)

  await subject.stop()

  expect(vi.getTimerCount()).toBe(0)
})
