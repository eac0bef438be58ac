// Mounts the API into Next: in app/admin/jobs/[[...path]]/route.ts,
// `export const { GET, POST, PATCH, DELETE } = nextHandlers(holdfast, { basePath: '/admin/jobs', auth })`.

import type { Client } from '../client/client.js'
import { createHttpApi } from './api.js'
import type { HttpOptions } from './options.js'

export type { HttpOptions } from './options.js'
export type { Permission, Principal } from './principal.js'

export type NextHandler = (request: Request) => Promise<Response>

export interface NextHandlers {
  readonly GET: NextHandler
  readonly POST: NextHandler
  readonly PATCH: NextHandler
  readonly DELETE: NextHandler
}

/** A route handler cannot see where it is mounted: `basePath` is the whole path, with Next's own base path if there is one. */
export function nextHandlers(
  client: Client,
  options: HttpOptions<Request> & { readonly basePath: string },
): NextHandlers {
  const api = createHttpApi(client, options)
  const handler: NextHandler = (request) => api.fetch(request, { native: request })
  return { GET: handler, POST: handler, PATCH: handler, DELETE: handler }
}
