// Mounts the API into Express: `app.use('/admin/jobs', expressHandler(holdfast, { auth }))`.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Client } from '../client/client.js'
import { createHttpApi } from './api.js'
import { nodeListener, restoreParsedBody } from './node-listener.js'
import type { HttpOptions } from './options.js'

export type { HttpOptions } from './options.js'
export type { Permission, Principal } from './principal.js'

export interface ExpressHandler {
  (request: IncomingMessage, response: ServerResponse): void
  /** Ends the live streams. */
  close(): Promise<void>
}

/** Finds its base path by itself. `auth` gets Express's request too, with what earlier middleware put on it. */
export function expressHandler<Native extends IncomingMessage = IncomingMessage>(
  client: Client,
  options: Omit<HttpOptions<Native>, 'basePath'>,
): ExpressHandler {
  const api = createHttpApi(client, options)
  const listener = nodeListener(api, (native) => ({ native, base: (native as ExpressRequest).baseUrl }))
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    // Express takes the mount's path off; the hook and the routes are to see the whole of it.
    request.url = (request as ExpressRequest).originalUrl
    restoreParsedBody(request)
    void listener(request, response)
  }
  return Object.assign(handler, { close: () => api.close() })
}

interface ExpressRequest extends IncomingMessage {
  readonly baseUrl: string
  readonly originalUrl: string
}
