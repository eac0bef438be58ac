// Mounts the API into Hono: `app.route('/admin/jobs', honoApp(holdfast, { auth }))`.

import { type Context, Hono } from 'hono'
import { basePath } from 'hono/route'
import type { Client } from '../client/client.js'
import { createHttpApi } from './api.js'
import type { HttpOptions } from './options.js'

export type { HttpOptions } from './options.js'
export type { Permission, Principal } from './principal.js'

/** Finds its base path by itself. `auth` gets Hono's context too, with what earlier middleware put on it. */
export function honoApp(client: Client, options: Omit<HttpOptions<Context>, 'basePath'>): Hono {
  const api = createHttpApi(client, options)
  return new Hono().all('*', (c) => api.fetch(c.req.raw, { native: c, base: basePath(c).replace(/\/+$/, '') }))
}
