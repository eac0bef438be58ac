// Loads the application's Holdfast from its own file, so that commands run the handlers that the service has.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JobHandle } from '../client/handle.js'
import type { Schedules } from '../client/schedules.js'
import { HoldfastError } from '../domain/error/errors.js'
import type { Job } from '../domain/job/job.js'
import type { StoreOptions } from '../holdfast.js'

/** What commands need of a Holdfast. Recognised by shape: the application may use its own copy of the package. */
export interface App {
  readonly database: StoreOptions['database']
  readonly schema: string
  readonly schedules: Schedules
  readonly types: readonly string[]
  with(options: Pick<StoreOptions, 'database' | 'schema' | 'migrate'> & { grace?: number }): App
  enqueue(type: string, input: unknown): Promise<JobHandle>
  find(id: string): Promise<Job | undefined>
  runJob(id: string): Promise<boolean>
  start(options?: { alone?: boolean }): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
  on(name: string, listener: (fact: never) => void): () => void
}

const CONFIG_FILES = ['ts', 'mts', 'js', 'mjs'].map((extension) => `holdfast.config.${extension}`)
const JOB_FILES = ['ts', 'mts', 'js', 'mjs'].map((extension) => `jobs/index.${extension}`)

/** The file that was named, or the first of the usual ones; undefined when there is none. */
export function findAppFile(named: string | undefined): string | undefined {
  if (named !== undefined) return resolve(named)
  const found = [...CONFIG_FILES, ...JOB_FILES].find((name) => existsSync(name))
  return found && resolve(found)
}

/** The file's export `holdfast`, its default export, or the only Holdfast that it exports. `fresh`: reads the file from the disk again. */
export async function loadApp(named: string | undefined, { fresh = false } = {}): Promise<App> {
  const path = findAppFile(named)
  if (path === undefined || !existsSync(path)) {
    const looked = named === undefined ? [...CONFIG_FILES, ...JOB_FILES] : [path]
    const hint = 'run `npx holdfast init`, or give --config <file that exports your Holdfast>'
    throw new HoldfastError('INVALID_OPTION', `there is no file ${named ?? CONFIG_FILES[0]}: ${hint}`, {
      details: { looked },
    })
  }
  const exported = await importFile(path, fresh)
  const candidates = [exported.holdfast, exported.default, ...Object.values(exported)]
  const app = candidates.find(isApp)
  if (app) return app
  const message = `${path} exports no Holdfast: export const holdfast = createHoldfast({ … })`
  throw new HoldfastError('INVALID_OPTION', message, { details: { exports: Object.keys(exported) } })
}

async function importFile(path: string, fresh: boolean): Promise<Record<string, unknown>> {
  if (!fresh && /\.m?js$/.test(path)) return import(pathToFileURL(path).href)
  const { createJiti } = await import('jiti')
  // Packages are loaded once and by Node itself; only the application's own files are read again.
  return createJiti(import.meta.url, { moduleCache: !fresh }).import(path)
}

function isApp(value: unknown): value is App {
  const { start, close, on, with: vary } = (value ?? {}) as Partial<App>
  return [start, close, on, vary].every((operation) => typeof operation === 'function')
}
