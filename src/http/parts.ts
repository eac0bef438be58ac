// What routes work with: the client behind them, the checked options, the live streams; and what a request brings along.

import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Client } from '../client/client.js'
import { HoldfastError } from '../domain/error/errors.js'
import type { CheckedOptions } from './options.js'
import type { Caller, Permission } from './principal.js'
import type { Hub } from './stream/hub.js'

export interface Parts {
  readonly client: Client
  readonly options: CheckedOptions
  readonly hub: Hub
}

/** What an adapter knows of a request beyond the request itself. */
export interface Mount {
  /** The beginning of the path that belongs to the host; '' at the root. */
  readonly base: string
  /** Who is at the other end of the connection; undefined where the host does not say. */
  readonly address?: string | undefined
  /** The host's own request, for the auth hook. */
  readonly native?: unknown
  /** Ends the connection at once, where the adapter can; for readers that do not read. */
  readonly disconnect?: (() => void) | undefined
}

export interface HttpEnv {
  Bindings: Mount
  Variables: { caller: Caller }
}

export type App = OpenAPIHono<HttpEnv>

/** An app for the routes of one kind: what does not fit the contract is refused in one way. */
export function newRoutes(): App {
  return new OpenAPIHono<HttpEnv>({
    defaultHook: (result) => {
      if (result.success) return
      const issues = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
      const first = issues[0]
      throw new HoldfastError(
        'INVALID_REQUEST',
        `the ${PLACES[result.target] ?? result.target} is not valid: ${first?.path ? `${first.path}: ` : ''}${first?.message}`,
        { details: { in: result.target, issues } },
      )
    },
  })
}

const PLACES: Readonly<Record<string, string>> = { json: 'body', param: 'path', query: 'query', header: 'header' }

/** The principal of the request; throws FORBIDDEN if it lacks one of the permissions. */
export function allowed(c: Context<HttpEnv>, ...permissions: readonly Permission[]): Caller {
  const caller = c.get('caller')
  caller.require(...permissions)
  return caller
}

/**
 * Sends a value as JSON. Typed as nothing, since what the contract's types make of dates, lists that cannot change and absent
 * properties fits no value of the domain; that answers fit their contract is what test/http holds every answer against.
 */
export function send(c: Context<HttpEnv>, value: object, status: 200 | 201 | 202 = 200): never {
  return c.json(value, status) as never
}

/** Without what is undefined. */
export function given<T extends object>(values: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]: Exclude<T[Name], undefined> }
}
