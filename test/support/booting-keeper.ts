// A keeper's thread that stays in its boot until the test lets it go on, or dies there.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BroadcastChannel } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

const REAL_FILE = pathToFileURL(createRequire(import.meta.url).resolve('#keeper-thread')).href

export interface BootingKeeper {
  readonly file: string
  /** Resolves when so many threads have come to the gate since the beginning. */
  arrives(times?: number): Promise<void>
  /** Whoever is at the gate or comes there later boots. */
  boot(): void
  /** Whoever is at the gate ends there. */
  die(): void
}

export async function bootingKeeper(): Promise<BootingKeeper> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-keeper-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'keeper.mjs')
  const name = randomUUID()
  await writeFile(
    file,
    `import { BroadcastChannel } from 'node:worker_threads'
     const gate = new BroadcastChannel('${name}')
     const word = await new Promise((resolve) => {
       gate.onmessage = ({ data }) => resolve(data)
       gate.postMessage('here')
     })
     if (word === 'die') process.exit(3)
     gate.close()
     await import('${REAL_FILE}')`,
  )
  const gate = new BroadcastChannel(name)
  onTestFinished(() => gate.close())
  let arrived = 0
  let isOpen = false
  let look = () => {}
  gate.onmessage = () => {
    arrived += 1
    if (isOpen) gate.postMessage('boot')
    look()
  }
  return {
    file,
    arrives: (times = 1) =>
      new Promise((resolve) => {
        look = () => {
          if (arrived >= times) resolve()
        }
        look()
      }),
    boot() {
      isOpen = true
      gate.postMessage('boot')
    },
    die: () => gate.postMessage('die'),
  }
}
