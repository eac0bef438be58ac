// Changes the text of SQL functions in a race's own database, for a while: to break them on purpose, or to stop them in the
// middle.
import { readdir, readFile } from 'node:fs/promises'
import { ask } from '../support/ask.js'
import type { Race } from './race.js'

export interface Patch {
  /** Name of a file below sql/functions, without its ending. */
  readonly file: string
  readonly find: string | RegExp
  readonly replace: string
}

const FUNCTIONS = new URL('../../sql/functions/', import.meta.url)
const patched = new WeakMap<Race, Map<string, string>>()

/** Patches upon patches add up; each goes when its work is done. */
export async function withPatch<T>(race: Race, { file, find, replace }: Patch, work: () => Promise<T>): Promise<T> {
  const texts = patched.get(race) ?? new Map<string, string>()
  patched.set(race, texts)
  const before = texts.get(file) ?? (await readFunction(file))
  const after = before.replace(find, replace)
  if (after === before) throw new Error(`${file}.sql has no text ${find}: the patch is out of date`)
  try {
    await apply(race, texts, file, after)
    return await work()
  } finally {
    await apply(race, texts, file, before)
  }
}

async function readFunction(name: string): Promise<string> {
  const path = (await readdir(FUNCTIONS, { recursive: true })).find((file) => file.endsWith(`/${name}.sql`))
  if (path === undefined) throw new Error(`sql/functions has no ${name}.sql: the patch is out of date`)
  return readFile(new URL(path, FUNCTIONS), 'utf8')
}

async function apply(race: Race, texts: Map<string, string>, file: string, text: string): Promise<void> {
  texts.set(file, text)
  await ask(race.admin, text)
}

/**
 * While `work` runs, a session that comes to `place` in the function stops there until `release` is called; the place is the text
 * that comes next.
 */
export async function withPause<T>(
  race: Race,
  { file, place }: { file: string; place: string },
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const release = async () => {
    await ask(race.admin, 'select pg_advisory_unlock_all()')
  }
  return withPatch(race, { file, find: place, replace: `perform race.pause();\n  ${place}` }, async () => {
    await ask(race.admin, 'select pg_advisory_lock(1)')
    try {
      return await work(release)
    } finally {
      await release()
    }
  })
}
