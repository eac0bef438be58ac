// Loads the application's Holdfast from its own file, so that a fleet runs the handlers that the service has.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HoldfastError } from '../domain/errors.js'

/** What a worker process needs of a Holdfast; told by shape, since the app may have its own copy of the package. */
export interface App {
  start(): Promise<void>
  close(): Promise<void>
  on(name: string, listener: (fact: never) => void): () => void
}

const DEFAULT_FILES = ['holdfast.config.js', 'holdfast.config.mjs', 'jobs/index.js', 'jobs/index.mjs']

/** The file's export `holdfast`, its default export, or the only Holdfast that it exports. */
export async function loadApp(file: string | undefined): Promise<App> {
  const path = resolve(file ?? DEFAULT_FILES.find((name) => existsSync(name)) ?? DEFAULT_FILES[0] ?? '')
  if (!existsSync(path)) {
    throw new HoldfastError(
      'INVALID_OPTION',
      `there is no file ${path}: give --config <file that exports your Holdfast>`,
      {
        details: { looked: file === undefined ? DEFAULT_FILES : [file] },
      },
    )
  }
  const exported: Record<string, unknown> = await import(pathToFileURL(path).href)
  const candidates = [exported.holdfast, exported.default, ...Object.values(exported)]
  const app = candidates.find(isApp)
  if (app) return app
  throw new HoldfastError(
    'INVALID_OPTION',
    `${path} exports no Holdfast: export const holdfast = createHoldfast({ … })`,
    {
      details: { exports: Object.keys(exported) },
    },
  )
}

function isApp(value: unknown): value is App {
  const { start, close, on } = (value ?? {}) as Partial<App>
  return typeof start === 'function' && typeof close === 'function' && typeof on === 'function'
}
