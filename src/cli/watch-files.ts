// Tells when files of an application change.

import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

// An editor saves in several steps, and a change of branch touches many files.
const SETTLE_MS = 150
const SOURCE = /\.(m|c)?(j|t)sx?$|\.json$/

/** Folders with all that is in them, and one file by itself. Calls `changed` once things have settled. */
export function watchFiles(folders: readonly string[], file: string, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const hear = (name: string | null) => {
    if (name !== null && !SOURCE.test(name)) return
    clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS)
  }
  const watchers: FSWatcher[] = folders
    .filter((folder) => existsSync(folder))
    .map((folder) => watch(resolve(folder), { recursive: true }, (_, name) => hear(name)))
  // By its folder: an editor that replaces the file would leave a watcher of the file itself with the old one.
  watchers.push(watch(dirname(file), (_, name) => name === basename(file) && hear(name)))
  for (const watcher of watchers) watcher.on('error', () => {})
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
