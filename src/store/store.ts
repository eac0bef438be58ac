// Opens whatever the user named as database, once, and makes sure that its schema fits.

import type { PGlite } from '@electric-sql/pglite'
import type pg from 'pg'
import { HoldfastError } from '../domain/error/errors.js'
import { checkSchemaName, DEFAULT_SCHEMA } from '../domain/value/schema-name.js'
import type { Capabilities, CapabilityOptions } from './connection/capabilities.js'
import type { Database } from './connection/connection.js'
import { openAddress, openServer, usePool } from './connection/server.js'
import { translated } from './connection/translate-error.js'
import { openEmbedded, usePGlite } from './embedded/embedded.js'
import { checkSchema } from './schema/check-schema.js'
import { type MigrationReport, migrate } from './schema/migrate.js'

/** A URL, a `pg.Pool`, a PGlite instance; absent or `embedded:<folder>` is the embedded default. */
export type DatabaseOption = string | pg.Pool | PGlite

/** The same database for another thread or process of this application. */
export interface DatabaseAddress {
  readonly address: pg.ClientConfig
  readonly capabilities: Capabilities
}

export interface StoreOptions extends CapabilityOptions {
  readonly database?: DatabaseOption | DatabaseAddress | Database | undefined
  readonly schema?: string | undefined
  /** Migrate when opened. Always so on the embedded default; on a server migrating is a deploy step. */
  readonly migrate?: boolean | undefined
  readonly maxConnections?: number | undefined
}

/** A database that opens at its first use; all callers share one opening. */
export class Store {
  readonly schema: string
  readonly #options: StoreOptions
  #opening: Promise<Database> | undefined
  #isClosed = false

  constructor(options: StoreOptions) {
    this.#options = options
    this.schema = checkSchemaName(options.schema ?? DEFAULT_SCHEMA)
  }

  /** Opened and known to fit. A failed opening is tried again by the next caller. */
  open(): Promise<Database> {
    if (this.#isClosed) return Promise.reject(new HoldfastError('CONNECTION_FAILED', 'this Holdfast is closed'))
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async migrate(): Promise<MigrationReport> {
    const opened = await this.#opening
    const database = opened ?? (await openDatabase(this.#options))
    try {
      const { folder } = database
      return await database.session((session) => migrate(session, { schema: this.schema, folder }))
    } catch (error) {
      throw translated(error)
    } finally {
      if (!opened) await database.close()
    }
  }

  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    this.#isClosed = true
    await (await opening?.catch(() => undefined))?.close()
  }

  async #open(): Promise<Database> {
    const database = await openDatabase(this.#options)
    try {
      const { schema } = this
      const { folder } = database
      const remembers = database.engine === 'embedded'
      if (this.#options.migrate ?? database.engine === 'embedded') {
        await database.session((session) => migrate(session, { schema, folder, remembers }))
      } else {
        await checkSchema(database, { schema, folder })
      }
      return database
    } catch (error) {
      await database.close()
      throw translated(error)
    }
  }
}

export function openDatabase({ database, ...options }: StoreOptions): Promise<Database> | Database {
  if (database === undefined) return openEmbedded()
  if (typeof database === 'string') {
    if (database.startsWith('embedded:')) return openEmbedded(database.slice('embedded:'.length) || undefined)
    if (database.startsWith('memory://')) return openEmbedded(database)
    return openServer(database, options)
  }
  if (isOpen(database)) return { ...database, close: async () => {} }
  if (isAddress(database)) return openAddress(database.address, database.capabilities, options.maxConnections)
  if (isPGlite(database)) return usePGlite(database)
  if (isPool(database)) return usePool(database, options)
  throw new HoldfastError('INVALID_OPTION', 'database must be a URL, a pg.Pool, a PGlite instance, or absent', {
    details: { received: typeof database },
  })
}

/** Opened by another, who closes it. */
function isOpen(value: unknown): value is Database {
  return typeof (value as Database)?.prepared === 'function' && typeof (value as Database).session === 'function'
}

function isAddress(value: unknown): value is DatabaseAddress {
  return typeof value === 'object' && value !== null && 'address' in value
}

function isPGlite(value: unknown): value is PGlite {
  return typeof (value as PGlite)?.execProtocol === 'function' && typeof (value as PGlite).query === 'function'
}

function isPool(value: unknown): value is pg.Pool {
  return typeof (value as pg.Pool)?.connect === 'function' && typeof (value as pg.Pool).query === 'function'
}
