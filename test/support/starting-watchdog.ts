// A watchdog thread that does not finish its boot until the test lets it.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BroadcastChannel } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

const REAL_FILE = pathToFileURL(createRequire(import.meta.url).resolve('#watchdog-thread')).href

export interface StartingWatchdog {
  readonly file: string
  /** Resolves when a thread has started. */
  arrives(): Promise<void>
  /** Threads that have arrived or arrive later boot. */
  boot(): void
}

export async function startingWatchdog(): Promise<StartingWatchdog> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-watchdog-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'watchdog.mjs')
  const name = randomUUID()
  await writeFile(
    file,
    `import { BroadcastChannel, workerData } from 'node:worker_threads'
     const gate = new BroadcastChannel('${name}')
     const clock = new BigInt64Array(workerData.clock)
     const go = () => {
       clearInterval(stopCheck)
       gate.close()
       void import('${REAL_FILE}')
     }
     const stopCheck = setInterval(() => Atomics.load(clock, 3) === 1n && go(), 5)
     gate.onmessage = go
     gate.postMessage('here')`,
  )
  const gate = new BroadcastChannel(name)
  onTestFinished(() => gate.close())
  let isOpen = false
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  gate.onmessage = () => {
    if (isOpen) gate.postMessage('boot')
    arrive()
  }
  return {
    file,
    arrives: () => arrived,
    boot() {
      isOpen = true
      gate.postMessage('boot')
    },
  }
}
