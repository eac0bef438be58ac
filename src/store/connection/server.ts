// A PostgreSQL server behind a pool of connections.

import pg from 'pg'
import { HoldfastError } from '../../domain/error/errors.js'
import { type Capabilities, type CapabilityOptions, findCapabilities } from './capabilities.js'
import { type Database, overPool } from './connection.js'
import { listenWith } from './listening.js'

// Calls have time limits of their own. A statement of a handler or of a migration may take as long as it needs: keepalive
// detects a dead server there.
const TIMEOUTS = { connectionTimeoutMillis: 10_000, keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

// A new session takes seven times as long for an enqueue as one that has its plans, so idle connections stay for a minute.
// They do not keep a process alive.
const IDLE = { idleTimeoutMillis: 60_000, allowExitOnIdle: true }

export interface ServerOptions extends CapabilityOptions {
  readonly maxConnections?: number | undefined
}

export async function openServer(url: string, options: ServerOptions = {}): Promise<Database> {
  checkUrl(url)
  const address = { connectionString: url, application_name: 'holdfast', ...TIMEOUTS }
  const { maxConnections = 10 } = options
  return openAddress({ ...address, max: maxConnections } as pg.PoolConfig, await findCapabilities(options, address))
}

function checkUrl(url: string): void {
  if (URL.canParse(url) && /^(postgres|postgresql|socket):$/.test(new URL(url).protocol)) return
  const shown = url.replace(/\/\/.*@/s, '//***@').replace(/(password=)[^&\s]*/gi, '$1***')
  throw new HoldfastError('INVALID_OPTION', 'database must be a URL like postgres://user@host:5432/name', {
    details: { received: shown.slice(0, 100) },
  })
}

export function openAddress(address: pg.ClientConfig, capabilities: Capabilities, maxConnections?: number): Database {
  const pool = new pg.Pool({ ...IDLE, ...address, ...(maxConnections !== undefined && { max: maxConnections }) })
  return overPool(pool, {
    engine: 'server',
    address,
    capabilities,
    ownsSessions: true,
    listen: (channel, heard, lost) => listenWith(new pg.Client(address), channel, heard, lost),
    close: () => pool.end(),
  })
}

/** The caller's own pool: used, never closed. */
export async function usePool(pool: pg.Pool, options: CapabilityOptions = {}): Promise<Database> {
  return overPool(pool, {
    engine: 'server',
    address: cloneable(pool.options),
    capabilities: await findCapabilities(options, pool.options as pg.ClientConfig),
    ownsSessions: false,
    listen: (channel, heard, lost) => listenWith(new pg.Client(pool.options), channel, heard, lost),
    close: async () => {},
  })
}

/** undefined when an option (a password function, a socket factory) cannot be sent to another thread. */
function cloneable(options: pg.PoolOptions): pg.ClientConfig | undefined {
  try {
    // The pool hides the password from enumeration.
    return structuredClone({ ...options, password: options.password }) as pg.ClientConfig
  } catch {
    return undefined
  }
}
