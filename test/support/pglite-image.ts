// Migrates one PGlite and keeps its image in a file, so that each test file loads it instead of migrating its own.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createPgConfig } from '@electric-sql/pglite/node-postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/store/schema/migrate.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The file with the migrated PGlite. */
    pgliteImage: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pglite-'))
  const teardown = () => rm(folder, { recursive: true, force: true })
  try {
    const file = join(folder, 'image.tar')
    await writeFile(file, await migratedImage())
    project.provide('pgliteImage', file)
  } catch (error) {
    await teardown()
    throw error
  }
  return teardown
}

async function migratedImage(): Promise<Buffer> {
  const pglite = await PGlite.create()
  try {
    const client = new pg.Client(createPgConfig(pglite) as pg.ClientConfig)
    await client.connect()
    await migrate(client)
    await client.end()
    const image = await pglite.dumpDataDir('none')
    return Buffer.from(await image.arrayBuffer())
  } finally {
    await pglite.close()
  }
}
