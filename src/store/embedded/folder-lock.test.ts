import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from './folder-lock.js'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-lock-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const leave = (text: string) => writeFile(join(folder, 'pid'), text)
const owner = () => readFile(join(folder, 'pid'), 'utf8')

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.pid as number
}

test('a locked folder names this process, until it is released', async () => {
  const release = await lockFolder(folder)
  expect(await owner()).toBe(String(process.pid))

  await release()

  await expect(owner()).rejects.toMatchObject({ code: 'ENOENT' })
  await (await lockFolder(folder))()
})

test('a folder is made if it is missing', async () => {
  const missing = join(folder, 'not', 'there')

  const release = await lockFolder(missing)

  expect(await readFile(join(missing, 'pid'), 'utf8')).toBe(String(process.pid))
  await release()
})

test('a folder of another live process is refused with its id', async () => {
  await leave(String(process.ppid))

  await expect(lockFolder(folder)).rejects.toMatchObject({
    code: 'EMBEDDED_IN_USE',
    details: { folder, pid: process.ppid },
  })
  expect(await owner()).toBe(String(process.ppid))
})

test('a folder that this process has locked is refused to it as well', async () => {
  const release = await lockFolder(folder)

  await expect(lockFolder(folder)).rejects.toMatchObject({ code: 'EMBEDDED_IN_USE' })

  expect(await owner()).toBe(String(process.pid))
  await release()
})

test('of many that lock one folder at once one gets it', async () => {
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lockFolder(folder)))

  const got = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  expect(got).toHaveLength(1)
  await got[0]?.()
})

test.each(['', 'nobody', '-1', '0', '3.5'])('a file that says %j, which is no process, is taken over', async (text) => {
  await leave(text)

  const release = await lockFolder(folder)

  expect(await owner()).toBe(String(process.pid))
  await release()
})

test('a file that a dead process left is taken over', async () => {
  await leave(String(await deadPid()))

  const release = await lockFolder(folder)

  expect(await owner()).toBe(String(process.pid))
  await release()
})

test('a file that an earlier process with the same id left is taken over', async () => {
  await leave(String(process.pid))

  const release = await lockFolder(folder)

  expect(await owner()).toBe(String(process.pid))
  await release()
})
