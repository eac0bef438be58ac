// An application under development: runs on one database that stays open, and is replaced as a whole when its files change.

import type { Client } from '../client/client.js'
import type { OpenDatabase } from '../client/open.js'
import type { JobId } from '../domain/job/job.js'
import type { Serving } from '../http/serve.js'
import type { Events } from '../observe/events.js'
import { type App, loadApp } from './load-app.js'

export interface DevListener {
  /** `url`: where the HTTP API of the application is. */
  started(app: App, url: string, isFirst: boolean): void
  /** The application could not be loaded or started; the one before goes on. */
  broken(error: unknown): void
  jobChanged(line: DevLine): void
}

/** Something that happened to a job. */
export interface DevLine {
  readonly event: string
  readonly id: JobId
  readonly type: string
  readonly text: string
}

// A developer who saves a file does not wait for a long job: it is released and starts again with the new code.
const GRACE_MS = 2000

export class DevSession {
  readonly #database: OpenDatabase
  readonly #file: string | undefined
  readonly #port: number
  readonly #listener: DevListener
  #app: App | undefined
  #serving: Serving | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(database: OpenDatabase, file: string | undefined, port: number, listener: DevListener) {
    this.#database = database
    this.#file = file
    this.#port = port
    this.#listener = listener
  }

  /** Throws when the application cannot be started for the first time. */
  async start(first: App): Promise<void> {
    this.#app = await this.#begin(first, true)
  }

  /** Reloads run one after another; a change during a reload starts one more. */
  reload(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#reload())
    return this.#turn
  }

  enqueue(type: string, input: unknown): Promise<unknown> {
    return this.#app?.enqueue(type, input) ?? Promise.resolve()
  }

  async stop(): Promise<void> {
    await this.#turn
    await this.#serving?.close()
    await this.#app?.close()
  }

  async #reload(): Promise<void> {
    const before = this.#app
    try {
      const next = await loadApp(this.#file, { fresh: true })
      // The two never run side by side: the new code runs what is enqueued from now on.
      await before?.stop()
      this.#app = await this.#begin(next, false)
      await before?.close()
    } catch (error) {
      await before?.start()
      this.#listener.broken(error)
    }
  }

  async #begin(loaded: App, isFirst: boolean): Promise<App> {
    const app = loaded.with({ database: this.#database, migrate: true, grace: GRACE_MS })
    reportJobs(app, (line) => this.#listener.jobChanged(line))
    try {
      await app.start()
      // The new server takes the port of the old one, so that open pages reconnect.
      const port = this.#serving?.port ?? this.#port
      await this.#serving?.close()
      const { serve } = await import('../http/serve.js')
      this.#serving = await serve(app as unknown as Client, { port })
    } catch (error) {
      await app.close()
      throw error
    }
    this.#listener.started(app, this.#serving.url, isFirst)
    return app
  }
}

function reportJobs(app: App, report: (line: DevLine) => void): void {
  app.on('job.completed', async ({ id, type, ms }: Events['job.completed']) => {
    const output = (await app.find(id).catch(() => undefined))?.output
    const shown = output === undefined || output === null ? '' : ` ${JSON.stringify(output)}`
    report({ event: 'job.completed', id, type, text: `completed in ${Math.round(ms)} ms${shown}` })
  })
  app.on('job.failed', ({ id, type, attempt, failure, isFinal }: Events['job.failed']) =>
    report({
      event: 'job.failed',
      id,
      type,
      text: `${isFinal ? 'failed for good' : `failed (attempt ${attempt}), runs again later`}: ${failure.message}`,
    }),
  )
  app.on('job.snoozed', ({ id, type, delayMs }: Events['job.snoozed']) =>
    report({ event: 'job.snoozed', id, type, text: `snoozed for ${delayMs} ms` }),
  )
  app.on('job.cancelled', ({ id, type, reason }: Events['job.cancelled']) =>
    report({ event: 'job.cancelled', id, type, text: `cancelled${reason === null ? '' : `: ${reason}`}` }),
  )
}
