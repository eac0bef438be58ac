// From Node's request and response to the API and back, for every host that has those.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { HoldfastError } from '../domain/error/errors.js'
import type { HttpApi } from './api.js'
import type { Mount } from './parts.js'
import { problemResponse } from './problem.js'

export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

export function nodeListener(api: HttpApi, mountOf: (incoming: IncomingMessage) => Partial<Mount>): NodeListener {
  return getRequestListener(
    async (request, env) => {
      const { incoming, outgoing } = env as HttpBindings
      const address = incoming.socket.remoteAddress
      const mount = { address, disconnect: () => outgoing.destroy(), ...mountOf(incoming) }
      const response = await api.fetch(asStandard(request, hasBody(incoming)), mount)
      // A connection that carried a stream ends with it, so that a host that closes does not wait for it.
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) outgoing.shouldKeepAlive = false
      return response
    },
    {
      // A library does not replace the globals of its host.
      overrideGlobalObjects: false,
      // Only what cannot be made a request comes here, as a Host that is no host.
      errorHandler: () => problemResponse(new HoldfastError('INVALID_REQUEST')),
    },
  )
}

/** The listener's request only resembles a Request: `new Request(it)`, as a body limit calls it, would fail. */
function asStandard(request: Request, isBodySent: boolean): Request {
  const { method, headers, signal } = request
  if (method === 'GET' || method === 'HEAD') return request
  const body = isBodySent ? request.body : null
  return new Request(request.url, { method, headers, signal, ...(body && { body, duplex: 'half' }) })
}

/** Node has a stream for every request. In HTTP/1 a header says whether it holds anything. */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return (
    httpVersionMajor > 1 || headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  )
}

/** A parser before the mount has taken the body from the connection: puts back what it made of it. */
export function restoreParsedBody(incoming: IncomingMessage & { body?: unknown; rawBody?: unknown }): void {
  const { body } = incoming
  if (body === undefined || !incoming.readableEnded || incoming.rawBody instanceof Buffer) return
  incoming.rawBody = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
