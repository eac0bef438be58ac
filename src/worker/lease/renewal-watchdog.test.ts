import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RenewalClock } from './renewal-clock.js'
import { RenewalWatchdog } from './renewal-watchdog.js'
import { type WatchdogData, WatchdogThreads } from './watchdog-threads.js'

// Waits for a word in the last of the watch's words, tells that it has booted, and dies if the word says so.
const THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
const word = new Int32Array(workerData.word)
Atomics.add(word, 1, 1)
Atomics.notify(word, 1)
Atomics.wait(word, 0, 0)
if (Atomics.load(word, 0) === 2) process.exit(3)
parentPort.postMessage({ kind: 'ready' })
parentPort.postMessage({ kind: 'fault', message: 'nobody answers' })
setInterval(() => {}, 1000)
`
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-thread-'))
  await writeFile(join(folder, 'thread.mjs'), THREAD)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Its threads wait until they are told to boot or to die. */
function watchdog(bootsAtOnce: boolean) {
  const word = new Int32Array(new SharedArrayBuffer(8))
  const faults: string[] = []
  let heard = () => {}
  const data = { bootsAtOnce, word: word.buffer } as unknown as WatchdogData
  const onFault = (_: string, error: unknown) => {
    faults.push(String(error))
    heard()
  }
  const subject = new RenewalWatchdog(
    data,
    new RenewalClock(),
    onFault,
    new WatchdogThreads(join(folder, 'thread.mjs'), 0),
  )
  const say = (what: 'boot' | 'die') => {
    Atomics.store(word, 0, what === 'boot' ? 1 : 2)
    Atomics.notify(word, 0)
  }
  const hearsFault = () =>
    new Promise<void>((resolve) => {
      heard = resolve
    })
  const threads = async (n: number) => {
    for (let seen = Atomics.load(word, 1); seen < n; seen = Atomics.load(word, 1)) {
      await Atomics.waitAsync(word, 1, seen).value
    }
  }
  return { subject, say, faults, hearsFault, threads }
}

test('the worker does not wait for a thread that need not boot yet, and hears later what it could not do', async () => {
  const { subject, say, faults, hearsFault } = watchdog(false)
  await subject.start()

  const heard = hearsFault()
  say('boot')
  await heard
  expect(faults).toEqual(['Error: nobody answers'])
  await subject.stop()
})

test('the worker waits for a thread that boots at once', async () => {
  const { subject, say, threads } = watchdog(true)
  let isStarted = false
  const started = subject.start().then(() => {
    isStarted = true
  })
  await threads(1)
  expect(isStarted).toBe(false)

  say('boot')
  await started
  await subject.stop()
})

test('a thread that boots at once and dies fails the start', async () => {
  const { subject, say } = watchdog(true)
  say('die')

  await expect(subject.start()).rejects.toThrow('the thread that stands in for the keeper ended with 3')
  await subject.stop()
})

test('a thread that dies later is replaced', async () => {
  const { subject, say, threads } = watchdog(false)
  await subject.start()
  await threads(1)

  say('die')
  await threads(2)
  await subject.stop()
})

test('a stop ends a thread that waits, and none comes after it', async () => {
  const { subject, say, threads } = watchdog(false)
  await subject.start()
  await threads(1)

  await subject.stop()
  say('boot')
  await expect(Promise.race([threads(2), new Promise((resolve) => setImmediate(() => resolve('none')))])).resolves.toBe(
    'none',
  )
})
