// An application under development: runs on one database that stays open, and is replaced as a whole when its files change.

import type { Client } from '../client/client.js'
import type { OpenDatabase } from '../client/open.js'
import type { JobId } from '../domain/job/job.js'
import type { Serving } from '../http/serve.js'
import type { Events } from '../observe/events.js'
import { type App, loadApp } from './load-app.js'

export interface DevFacts {
  /** `url`: where the HTTP API of the application is. */
  started(app: App, url: string, isFirst: boolean): void
  /** The application could not be loaded or started; the one before goes on. */
  broken(error: unknown): void
  said(line: DevLine): void
}

/** Something that happened to a job. */
export interface DevLine {
  readonly event: string
  readonly id: JobId
  readonly type: string
  readonly text: string
}

// Who has just saved a file does not wait for a long job: it is given back and begins again with the new code.
const GRACE_MS = 2000

export class DevSession {
  readonly #database: OpenDatabase
  readonly #file: string | undefined
  readonly #port: number
  readonly #facts: DevFacts
  #app: App | undefined
  #serving: Serving | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(database: OpenDatabase, file: string | undefined, port: number, facts: DevFacts) {
    this.#database = database
    this.#file = file
    this.#port = port
    this.#facts = facts
  }

  /** Throws when the application cannot be started for the first time. */
  async start(first: App): Promise<void> {
    this.#app = await this.#begin(first, true)
  }

  /** One at a time: changes that come meanwhile are met by the next. */
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
      // Not beside each other: what is enqueued from now on is for the new code.
      await before?.stop()
      this.#app = await this.#begin(next, false)
      await before?.close()
    } catch (error) {
      await before?.start()
      this.#facts.broken(error)
    }
  }

  async #begin(loaded: App, isFirst: boolean): Promise<App> {
    const app = loaded.with({ database: this.#database, migrate: true, grace: GRACE_MS })
    tellJobs(app, (line) => this.#facts.said(line))
    try {
      await app.start()
      // Pages come back by themselves: the new server is where the old one was.
      const port = this.#serving?.port ?? this.#port
      await this.#serving?.close()
      const { serve } = await import('../http/serve.js')
      this.#serving = await serve(app as unknown as Client, { port })
    } catch (error) {
      await app.close()
      throw error
    }
    this.#facts.started(app, this.#serving.url, isFirst)
    return app
  }
}

function tellJobs(app: App, say: (line: DevLine) => void): void {
  app.on('job.completed', async ({ id, type, ms }: Events['job.completed']) => {
    const output = (await app.find(id).catch(() => undefined))?.output
    const shown = output === undefined || output === null ? '' : ` ${JSON.stringify(output)}`
    say({ event: 'job.completed', id, type, text: `completed in ${Math.round(ms)} ms${shown}` })
  })
  app.on('job.failed', ({ id, type, attempt, failure, isFinal }: Events['job.failed']) =>
    say({
      event: 'job.failed',
      id,
      type,
      text: `${isFinal ? 'failed for good' : `failed (attempt ${attempt}), runs again later`}: ${failure.message}`,
    }),
  )
  app.on('job.snoozed', ({ id, type, delayMs }: Events['job.snoozed']) =>
    say({ event: 'job.snoozed', id, type, text: `snoozed for ${delayMs} ms` }),
  )
  app.on('job.cancelled', ({ id, type, reason }: Events['job.cancelled']) =>
    say({ event: 'job.cancelled', id, type, text: `cancelled${reason === null ? '' : `: ${reason}`}` }),
  )
}
