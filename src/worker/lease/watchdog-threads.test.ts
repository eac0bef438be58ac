import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Worker as Thread } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { monotonicMs } from '../monotonic.js'
import { RenewalClock } from './renewal-clock.js'
import { type WatchdogData, WatchdogThreads } from './watchdog-threads.js'

const FILE = createRequire(import.meta.url).resolve('#watchdog-thread')

/** A worker whose keeper has just got through, and whose database nobody can reach. */
function worker() {
  const watch = new RenewalClock()
  watch.kept(monotonicMs())
  const address = { host: '127.0.0.1', port: 1 }
  const data: WatchdogData = { address, schema: 'holdfast', worker: 'w', bootsAtOnce: false, watch: watch.memory }
  return { watch, data }
}

function watchdogThreads(spareMs?: number, file = FILE) {
  const threads = new WatchdogThreads(file, spareMs)
  const open = (data: WatchdogData): Thread => {
    const thread = threads.open(data)
    onTestFinished(async () => void (await thread.terminate()))
    return thread
  }
  return { open, close: threads.close.bind(threads) }
}

/** Its keeper has not got through for long: whoever watches goes to work. */
async function isNeeded(thread: Thread, { watch }: ReturnType<typeof worker>): Promise<void> {
  const ready = once(thread, 'message')
  watch.kept(monotonicMs() - 3500)
  expect(await ready).toEqual([{ kind: 'ready' }])
}

test('a thread that was never needed stands in for the next worker', async () => {
  const { open, close } = watchdogThreads()
  const [first, second] = [worker(), worker()]
  const thread = open(first.data)
  await close(thread, first.watch.dismiss())

  const next = open(second.data)

  expect(next).toBe(thread)
  await isNeeded(next, second)
})

test('a thread that waits without an event loop hears its bell', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bell-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'thread.mjs')
  const program = `
    import { parentPort, workerData } from 'node:worker_threads'
    Atomics.wait(new Int32Array(workerData.bell), 0, 0)
    parentPort.postMessage('rung')`
  await writeFile(file, program)
  const { open, close } = watchdogThreads(undefined, file)
  await close(open(worker().data), true)

  const thread = open(worker().data)

  expect(await once(thread, 'message')).toEqual(['rung'])
})

test('a thread that has been at work ends with its worker', async () => {
  const { open, close } = watchdogThreads()
  const first = worker()
  const thread = open(first.data)
  const ended = once(thread, 'exit')
  await isNeeded(thread, first)

  await close(thread, first.watch.dismiss())

  await ended
  expect(open(worker().data)).not.toBe(thread)
})

test('one thread stays, whatever the number of workers that stop', async () => {
  const { open, close } = watchdogThreads()
  const workers = [worker(), worker()] as const
  const [stays, goes] = [open(workers[0].data), open(workers[1].data)]
  const gone = once(goes, 'exit')

  await close(stays, workers[0].watch.dismiss())
  await close(goes, workers[1].watch.dismiss())

  await gone
  expect(open(worker().data)).toBe(stays)
})

test('a thread that nobody asks for ends after its time, and is not handed out any more', async () => {
  const { open, close } = watchdogThreads(1)
  const first = worker()
  const thread = open(first.data)
  await close(thread, first.watch.dismiss())

  await once(thread, 'exit')

  expect(open(worker().data)).not.toBe(thread)
})

test('a process in which only such a thread is left ends by itself', async () => {
  const built = (file: string) => JSON.stringify(pathToFileURL(FILE.replace('watchdog-thread', file)).href)
  const program = `
    import { RenewalClock } from ${built('keeper-watch')}
    import { WatchdogThreads } from ${built('watchdog-threads')}
    const threads = new WatchdogThreads(${JSON.stringify(FILE)})
    const watch = new RenewalClock()
    const thread = threads.open({ watch: watch.memory, bootsAtOnce: false })
    thread.once('online', () => void threads.close(thread, watch.dismiss()))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' })
  onTestFinished(() => void child.kill('SIGKILL'))

  expect(await once(child, 'exit')).toEqual([0, null])
})
