// One process at a time: a folder belongs to the process whose id its file holds.

import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HoldfastError } from '../../domain/error/errors.js'

// In a container a process often has the same id as the previous one, so the file alone does not identify its owner.
const HELD_HERE = new Set<string>()
// A file is empty for a moment before its owner has written into it.
const WRITING_MS = 50
const MOST_TRIES = 5

/** Takes the folder for this process by a file with its id; a file that a dead process left is taken over. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  if (HELD_HERE.has(folder)) throw inUse(folder, process.pid)
  HELD_HERE.add(folder)
  const file = join(folder, 'pid')
  try {
    await mkdir(folder, { recursive: true })
    await takeFile(folder, file)
  } catch (error) {
    HELD_HERE.delete(folder)
    throw error
  }
  return async () => {
    HELD_HERE.delete(folder)
    await rm(file, { force: true })
  }
}

async function takeFile(folder: string, file: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const handle = await open(file, 'wx')
      await handle.writeFile(String(process.pid))
      return await handle.close()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    let owner = await readFile(file, 'utf8').catch(() => '')
    if (owner === '') {
      await new Promise((resolve) => setTimeout(resolve, WRITING_MS))
      owner = await readFile(file, 'utf8').catch(() => '')
    }
    const pid = Number(owner)
    if (tries > MOST_TRIES || (pid !== process.pid && isAlive(pid))) throw inUse(folder, pid)
    await rm(file, { force: true })
  }
}

function inUse(folder: string, pid: number): HoldfastError {
  return new HoldfastError(
    'EMBEDDED_IN_USE',
    `process ${pid} has ${folder} open: stop it, or use another folder or a DATABASE_URL for this process`,
    { details: { folder, pid } },
  )
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
