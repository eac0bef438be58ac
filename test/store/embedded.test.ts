// The embedded database in a folder: one process at a time, and what was stored stays.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHoldfast, defineJob } from '../../src/index.js'

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

let folder: string
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-embedded-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  await rm(folder, { recursive: true, force: true })
})

const open = () => createHoldfast({ database: `embedded:${folder}`, jobs: [echo], grace: 0 })

/** A live process of another program, which stays until it is ended. */
function otherProcess(): ChildProcess & { pid: number } {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { stdio: 'ignore' })
  children.push(child)
  return child as ChildProcess & { pid: number }
}

test('jobs survive closing and opening again', async () => {
  const first = open()
  const { id } = await first.enqueue(echo, 'kept')
  await first.close()
  await expect(readFile(join(folder, 'pid'))).rejects.toMatchObject({ code: 'ENOENT' })

  await using second = open()
  expect((await second.find(id))?.state).toBe('pending')
  await second.start()
  const again = await second.enqueue(echo, 'new')
  await again.result()

  expect(BigInt(again.id)).toBeGreaterThan(BigInt(id))
  expect(await second.find(id)).toMatchObject({ state: 'completed', output: 'kept' })
})

test('a folder whose schema was made from another text is refused with what to delete', async () => {
  const made = open()
  await made.enqueue(echo, 1)
  await made.close()
  const pglite = await PGlite.create(join(folder, 'data'))
  // The comment on the schema says what was applied: it goes, as it does not fit another text either.
  await pglite.exec(`update holdfast.migration set checksum = 'other'; comment on schema holdfast is null`)
  await pglite.close()

  await using refused = open()
  await expect(refused.enqueue(echo, 2)).rejects.toMatchObject({
    code: 'MIGRATION_CHANGED',
    message: expect.stringContaining(`Delete the folder ${folder}`),
  })
  await rm(folder, { recursive: true })

  expect((await refused.enqueue(echo, 3)).id).toBe('1')
})

test('a folder that another live process holds is refused with who holds it', async () => {
  const { pid } = otherProcess()
  await writeFile(join(folder, 'pid'), String(pid))
  await using holdfast = open()

  await expect(holdfast.enqueue(echo, 1)).rejects.toMatchObject({
    code: 'EMBEDDED_IN_USE',
    message: expect.stringContaining(`process ${pid} has ${folder} open`),
    details: { folder, pid },
  })
  expect(await readFile(join(folder, 'pid'), 'utf8')).toBe(String(pid))
})

test('a database that cannot be opened gives the folder back', async () => {
  await mkdir(join(folder, 'data'))
  await writeFile(join(folder, 'data', 'PG_VERSION'), 'none')
  const holdfast = open()

  await expect(holdfast.enqueue(echo, 1)).rejects.toThrow()

  await expect(readFile(join(folder, 'pid'))).rejects.toMatchObject({ code: 'ENOENT' })
  await holdfast.close()
})

test('memory:// needs no folder', async () => {
  await using holdfast = createHoldfast({ database: 'memory://', jobs: [echo], grace: 0 })
  await holdfast.start()

  const handle = await holdfast.enqueue(echo, 'kept nowhere')

  expect(await handle.result()).toBe('kept nowhere')
})
