// A migrated, empty PGlite in memory, from an image that is made once: loading it takes a fraction of making it.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { DEFAULT_SCHEMA } from '../../domain/value/schema-name.js'
import { usePGlite } from '../embedded/embedded.js'
import { migrate } from './migrate.js'
import { readMigrations, readRepeatables } from './sql-files.js'

export type { PGlite } from '@electric-sql/pglite'

let image: Promise<Blob> | undefined

/** The caller closes it. */
export async function openFreshDatabase(): Promise<PGlite> {
  image ??= readImage().catch((error) => {
    image = undefined
    throw error
  })
  return PGlite.create({ loadDataDir: await image })
}

/** From the cache of an earlier process if there is one, so that not every test file makes its own. */
async function readImage(): Promise<Blob> {
  const modules = join(process.cwd(), 'node_modules')
  if (!existsSync(modules)) return makeImage()
  const folder = join(modules, '.cache', 'holdfast')
  const name = `pglite-${await fingerprint()}.tar`
  try {
    return new Blob([await readFile(join(folder, name))])
  } catch {
    const made = await makeImage()
    // A cache that cannot be written is no cache, and no reason to fail.
    await keep(folder, name, made).catch(() => {})
    return made
  }
}

/** Renamed into place, because other test files read it at the same time. Deletes the images of other versions. */
async function keep(folder: string, name: string, made: Blob): Promise<void> {
  await mkdir(folder, { recursive: true })
  const draft = join(folder, `${name}.${process.pid}.draft`)
  await writeFile(draft, Buffer.from(await made.arrayBuffer()))
  await rename(draft, join(folder, name))
  const old = (await readdir(folder)).filter((file) => file.endsWith('.tar') && file !== name)
  await Promise.all(old.map((file) => rm(join(folder, file), { force: true })))
}

async function makeImage(): Promise<Blob> {
  const pglite = await PGlite.create()
  try {
    const database = await usePGlite(pglite)
    await database.session((session) => migrate(session))
    await database.close()
    return await pglite.dumpDataDir('none')
  } finally {
    await pglite.close()
  }
}

/** Of everything that the image depends on. */
async function fingerprint(): Promise<string> {
  const engine = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const hash = createHash('sha256').update(await readFile(engine))
  for (const { text } of await readMigrations(DEFAULT_SCHEMA)) hash.update(text)
  for (const text of await readRepeatables(DEFAULT_SCHEMA)) hash.update(text)
  return hash.digest('hex').slice(0, 16)
}
