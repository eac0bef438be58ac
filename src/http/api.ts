// The HTTP API as one function from Request to Response: principal, permissions, and the routes of the contract.

import { OpenAPIHono } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { matchedRoutes } from 'hono/route'
import { getPath } from 'hono/utils/url'
import type { Client } from '../client/client.js'
import { HoldfastError } from '../domain/error/errors.js'
import { type Admission, admission } from './admission.js'
import { openApiDocument } from './openapi-document.js'
import { checkOptions, type HttpOptions } from './options.js'
import type { App, HttpEnv, Mount, Parts } from './parts.js'
import { problemResponse, refusalOf } from './problem.js'
import { allRoutes } from './routes/all-routes.js'
import { isReading } from './same-site.js'
import { SECURITY_HEADERS } from './security-headers.js'
import { Hub } from './stream/hub.js'

export interface HttpApi {
  /** Never rejects: whatever goes wrong is a problem+json. */
  fetch(request: Request, mount?: Partial<Mount>): Promise<Response>
  /** Ends the live streams. The database belongs to Holdfast and stays open. */
  close(): Promise<void>
}

/** Throws AUTH_REQUIRED when there is no `auth` hook. */
export function createHttpApi<Native>(client: Client, options: HttpOptions<Native>): HttpApi {
  const definitions = [...client.definitions.values()]
  const checked = checkOptions(options, Object.fromEntries(definitions.map(({ type, redact }) => [type, redact])))
  const hub = new Hub(client, checked.limits, checked.log)
  const app = buildApp({ client, options: checked, hub }, admission(checked))
  return {
    fetch: async (request, mount = {}) => app.fetch(request, { base: checked.basePath, ...mount }),
    close: () => hub.close(),
  }
}

function buildApp(parts: Parts, admit: Admission): App {
  const { log, limits } = parts.options
  const app: App = new OpenAPIHono<HttpEnv>({ getPath: pathBelowBase })

  app.use(async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
    }
  })
  app.use(async (c, next) => {
    checkAddress(c.req.raw.url)
    const caller = await admit(c.req.raw, c.env)
    // A copy, since the headers of some answers cannot be added to.
    if (caller instanceof Response) return new Response(caller.body, caller)
    c.set('caller', caller)
    await next()
    return undefined
  })
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (_c, allowed) =>
        problemResponse(new HoldfastError('METHOD_NOT_ALLOWED', undefined, { details: { allowed } })),
    }),
  )
  app.use(async (c, next) => {
    const isRoute = matchedRoutes(c).some(({ method }) => method !== 'ALL')
    if (isRoute && !isReading(c.req.method)) checkMediaType(c.req.raw)
    await next()
  })
  app.use(bodyLimit({ maxSize: limits.bodyBytes, onError: (c) => tooLarge(c.req.raw, limits.bodyBytes) }))

  for (const routes of allRoutes(parts)) app.route('/api', routes)
  const document = openApiDocument(app)
  app.get('/openapi.json', (c) => c.json(document, 200))

  app.notFound(() => problemResponse(new HoldfastError('NOT_FOUND')))
  app.onError((error, c) => {
    const refusal = refusalOf(error)
    if (refusal.code === 'UNEXPECTED') log.error({ err: error, path: c.req.path }, 'a request failed')
    return problemResponse(refusal)
  })
  return app
}

/** What does not lie below the base belongs to the host; here it is nowhere. */
function pathBelowBase(request: Request, options?: { env?: object }): string {
  const { base = '' } = (options?.env ?? {}) as Partial<Mount>
  if (base === '') return getPath(request)
  const { pathname } = new URL(request.url)
  if (pathname !== base && !pathname.startsWith(`${base}/`)) return '/not-below-the-base-path'
  return getPath({ url: `http://below${pathname.slice(base.length) || '/'}` } as Request)
}

/** No text with this character can be stored, so none can be asked for. */
function checkAddress(url: string): void {
  if (/%00/.test(url)) throw new HoldfastError('INVALID_REQUEST', 'an address must not hold the character \\u0000')
}

/** JSON on every request that changes something: a form of another site cannot send it without being asked first. */
function checkMediaType(request: Request): void {
  const type = request.headers.get('content-type')
  if (type === null && request.method === 'DELETE' && request.body === null) return
  if (/^application\/json\s*(;|$)/i.test(type ?? '')) return
  throw new HoldfastError('UNSUPPORTED_MEDIA_TYPE', undefined, { details: { received: type } })
}

async function tooLarge(request: Request, limit: number): Promise<Response> {
  await readAway(request.body, READ_AWAY_BYTES)
  const message = `the body of a request has at most ${limit} bytes`
  return problemResponse(new HoldfastError('BODY_TOO_LARGE', message, { details: { limit } }))
}

const READ_AWAY_BYTES = 16_777_216

/** Who is still sending when the connection ends sees no answer, so what is not out of all measure is taken and forgotten. */
async function readAway(body: Request['body'], most: number): Promise<void> {
  if (!body || body.locked) return
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > most) return
  }
}
