// Reports changes of an application's files.

import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

// An editor saves in several steps, and a change of branch touches many files.
const SETTLE_MS = 150
const SOURCE = /\.(m|c)?(j|t)sx?$|\.json$/

/**
 * Watches folders with everything in them, and one file. Calls `changed` once no further change has come for a moment. Each
 * folder has its own watcher: a recursive watcher, or one on a file, misses files that an editor replaces.
 */
export function watchFiles(folders: readonly string[], file: string, changed: () => void): () => void {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const settle = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      for (const folder of folders) watchTree(resolve(folder))
      changed()
    }, SETTLE_MS)
  }
  const watchFolder = (path: string, concerns: (name: string) => boolean) => {
    if (watchers.has(path)) return
    const watcher = watch(path, (_, name) => {
      if (name === null || concerns(name)) settle()
    })
    watcher.on('error', () => forget(path))
    watchers.set(path, watcher)
  }
  const forget = (path: string) => {
    watchers.get(path)?.close()
    watchers.delete(path)
  }
  const watchTree = (path: string) => {
    const inner = foldersIn(path)
    if (inner === undefined) return forget(path)
    // A name without an ending may be a new folder.
    watchFolder(path, (name) => SOURCE.test(name) || !name.includes('.'))
    for (const folder of inner) watchTree(folder)
  }
  for (const folder of folders) watchTree(resolve(folder))
  watchFolder(dirname(file), (name) => name === basename(file))
  return () => {
    clearTimeout(timer)
    for (const path of [...watchers.keys()]) forget(path)
  }
}

/** undefined when there is no such folder, or no longer. */
function foldersIn(path: string): string[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
      .map(({ name }) => join(path, name))
  } catch {
    return undefined
  }
}
