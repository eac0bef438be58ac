// The API alone on a port. Open to this machine by default; anywhere else only with tokens or a hook.

import { createServer } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { userInfo } from 'node:os'
import type { Client } from '../client/client.js'
import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import { createHttpApi } from './api.js'
import { type BearerToken, bearerTokens } from './bearer-tokens.js'
import { nodeListener } from './node-listener.js'
import type { Auth, HttpOptions } from './options.js'
import { PERMISSIONS, type Principal } from './principal.js'

export interface ServeOptions extends Omit<HttpOptions, 'auth'> {
  /** Default 127.0.0.1. */
  readonly hostname?: string
  /** Default 4747; 0 takes any that is free. */
  readonly port?: number
  /** Either `tokens` or `auth`, or neither on a loopback address: then who can reach it may do everything. */
  readonly tokens?: readonly BearerToken[]
  readonly auth?: Auth
}

export interface Serving {
  readonly url: string
  readonly port: number
  /** Ends the live streams and the connections. */
  close(): Promise<void>
}

/** Throws AUTH_REQUIRED for an address that others can reach, unless there are tokens or a hook. */
export async function serve(client: Client, options: ServeOptions = {}): Promise<Serving> {
  const { hostname = '127.0.0.1', port = 4747, tokens, auth, ...rest } = options
  const api = createHttpApi(client, { ...rest, auth: authOf(hostname, tokens, auth) })
  const server = createServer(nodeListener(api, (native) => ({ native })))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, hostname, port)))
    server.listen(port, hostname, resolve)
  })
  const { port: opened } = server.address() as AddressInfo
  return {
    url: `http://${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${opened}`,
    port: opened,
    async close() {
      await api.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function authOf(hostname: string, tokens: readonly BearerToken[] | undefined, auth: Auth | undefined): Auth {
  if (auth) return auth
  if (tokens && tokens.length > 0) return bearerTokens(tokens)
  if (isLoopback(hostname)) return localOnly()
  throw new HoldfastError(
    'AUTH_REQUIRED',
    `${hostname} can be reached from other machines: pass tokens or an auth hook, or use 127.0.0.1`,
    { details: { hostname } },
  )
}

/** A page elsewhere can point a name of its own at this machine; its requests bear that name. */
function localOnly(): Auth {
  const principal: Principal = { name: `local/${userName()}`, permissions: PERMISSIONS }
  return (request) => (isLoopback(new URL(request.url).hostname) ? principal : undefined)
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown' // an id without a name, as containers have
  }
}

function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) === 4) return bare.startsWith('127.')
  return bare === '::1' || bare === 'localhost'
}

function cannotListen(error: NodeJS.ErrnoException, hostname: string, port: number): Error {
  if (error.code === 'EADDRINUSE') return invalidOption('port', 'one that is free', port)
  if (error.code === 'EADDRNOTAVAIL') return invalidOption('hostname', 'an address of this machine', hostname)
  return error
}
