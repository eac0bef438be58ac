// The API inside real frameworks: base paths, bodies that were parsed before the mount, compression, names with any character.
import { createServer, get, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import compression from 'compression'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, test } from 'vitest'
import { createHttpApi } from '../../src/http/api.js'
import { expressHandler } from '../../src/http/express.js'
import { fastifyPlugin } from '../../src/http/fastify.js'
import { honoApp } from '../../src/http/hono.js'
import { nextHandlers } from '../../src/http/next.js'
import { type Serving, serve } from '../../src/http/serve.js'
import { defineJob } from '../../src/index.js'
import { readEvents } from '../support/event-reader.js'
import { useHoldfast } from '../support/holdfast.js'
import { headersOf, namedByHeader } from '../support/http.js'

const mail = defineJob({ type: 'mail', queue: 'mail' })
const bench = useHoldfast()

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A listener on a free port; its address. */
async function listening(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function inExpress(base: string, ...before: express.RequestHandler[]): Promise<string> {
  const app = express()
  for (const handler of before) app.use(handler)
  const handler = expressHandler(bench.open({ jobs: [mail] }), { auth: namedByHeader })
  app.use(base, handler)
  app.use((_request, response) => {
    response.status(418).send('the host')
  })
  const url = await listening(app)
  closers.push(() => handler.close())
  return url
}

async function inFastify(base: string): Promise<string> {
  // Who has asked keeps the connection for some seconds; nobody waits for that here.
  const fastify = Fastify({ forceCloseConnections: true })
  fastify.get('/own', () => 'the host')
  fastify.post('/own', (request) => request.body)
  await fastify.register(fastifyPlugin, {
    prefix: base,
    holdfast: bench.open({ jobs: [mail] }),
    auth: namedByHeader,
  })
  const url = await fastify.listen({ port: 0, host: '127.0.0.1' })
  closers.push(() => fastify.close())
  return url
}

async function inHono(base: string): Promise<string> {
  const app = new Hono()
  app.route(base, honoApp(bench.open({ jobs: [mail] }), { auth: namedByHeader }))
  return listening(nodeBridge((request) => app.fetch(request)))
}

async function inNext(base: string): Promise<string> {
  const handlers = nextHandlers(bench.open({ jobs: [mail] }), { basePath: base, auth: namedByHeader })
  return listening(
    nodeBridge((request) => {
      const handler = handlers[request.method as keyof typeof handlers]
      return handler ? handler(request) : new Response(null, { status: 405 })
    }),
  )
}

const HOSTS = { express: inExpress, fastify: inFastify, hono: inHono, next: inNext }

// biome-ignore lint/suspicious/noExplicitAny: what a body holds is what the contract says
type Body = any

async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Body }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(), ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

describe.each(Object.entries(HOSTS))('inside %s', (_name, mounted) => {
  test.each(['/jobs', '/a/b'])('the API lies below %s and nowhere else', async (base) => {
    const url = await mounted(base)

    const inside = await fetch(`${url}${base}/api/me`, { headers: headersOf({ name: 'ada' }) })
    expect(await inside.json()).toMatchObject({ name: 'ada' })
    expect((await fetch(`${url}${base}/openapi.json`, { headers: headersOf() })).status).toBe(200)
    expect((await fetch(`${url}/api/me`, { headers: headersOf() })).status).not.toBe(200)
    expect((await fetch(`${url}${base}${base}/api/me`, { headers: headersOf() })).status).toBe(404)
  })

  test('bodies arrive, and names with any character too', async () => {
    const url = await mounted('/jobs')

    const { status, body } = await post(`${url}/jobs/api/jobs`, {
      type: 'mail',
      input: { text: 'ä ☃' },
      queue: 'a/b %',
    })
    expect(status).toBe(201)
    const shown = await fetch(`${url}/jobs/api/jobs/${body.id}`, { headers: headersOf() })
    expect(await shown.json()).toMatchObject({ job: { queue: 'a/b %', input: { text: 'ä ☃' } } })
    const paused = await post(`${url}/jobs/api/queues/${encodeURIComponent('a/b %')}/pause`, {})
    expect(paused).toEqual({ status: 200, body: { isChanged: true } })
  })

  test('a DELETE needs no body, and one with a body needs its type', async () => {
    const url = `${await mounted('/jobs')}/jobs/api/schedules/none`
    const ask = async (more: RequestInit) =>
      (await fetch(url, { method: 'DELETE', ...more, headers: { ...headersOf(), ...more.headers } })).status

    expect(await ask({})).toBe(404)
    expect(await ask({ headers: { 'content-type': 'application/json' } })).toBe(404)
    expect(await ask({ body: 'x' })).toBe(415)
    expect(await ask({ body: new Blob(['x']).stream(), duplex: 'half' } as RequestInit)).toBe(415)
  })

  test('refusals and limits hold', async () => {
    const url = await mounted('/jobs')

    expect((await fetch(`${url}/jobs/api/jobs`)).status).toBe(401)
    expect((await post(`${url}/jobs/api/jobs`, { type: 'mail', input: 'x'.repeat(1_100_000) })).status).toBe(413)
    expect((await post(`${url}/jobs/api/jobs`, {}, { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post(`${url}/jobs/api/jobs`, {}, { 'sec-fetch-site': 'cross-site' })).body.code).toBe('CROSS_SITE')
  })

  test('a live stream flows', async () => {
    const url = await mounted('/jobs')

    const response = await fetch(`${url}/jobs/api/events?topic=stats`, { headers: headersOf() })
    const reader = readEvents(response.body)

    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(response.headers.get('cache-control')).toMatch(/no-transform/)
    expect((await reader.next())?.data).toMatchObject({ topic: 'stats' })
    await reader.cut()
  })
})

describe('inside express', () => {
  test.each([
    ['express.json()', express.json()],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.raw()', express.raw({ type: '*/*' })],
  ])('a body that %s took before the mount is given back', async (_name, parser) => {
    const url = await inExpress('/jobs', parser)

    const { status, body } = await post(`${url}/jobs/api/jobs`, { type: 'mail', input: { n: 1 } })

    expect([status, typeof body.id]).toEqual([201, 'string'])
  })

  test('a stream is not held back by compression', async () => {
    const url = await inExpress('/jobs', compression({ threshold: 0 }))
    const ordinary = await fetch(`${url}/jobs/openapi.json`, { headers: headersOf() })
    expect(ordinary.headers.get('content-encoding')).not.toBeNull()

    const response = await fetch(`${url}/jobs/api/events?topic=stats`, { headers: headersOf() })
    const reader = readEvents(response.body)

    expect(response.headers.get('content-encoding')).toBeNull()
    expect((await reader.next())?.event).toBe('stats')
    await reader.cut()
  })

  test('the rest of the host is left alone, and the hook sees its request', async () => {
    const seen: unknown[] = []
    const app = express()
    app.use((request, _response, next) => {
      Object.assign(request, { user: 'ada' })
      next()
    })
    const handler = expressHandler<express.Request & { user?: string }>(bench.open({ jobs: [mail] }), {
      auth: (request, native) => {
        seen.push([new URL(request.url).pathname, native.user])
        return { name: native.user ?? '', permissions: ['view'] }
      },
    })
    app.use('/tenants/:tenant/jobs', handler)
    app.get('/own', (_request, response) => {
      response.send('the host')
    })
    const url = await listening(app)

    expect(await (await fetch(`${url}/tenants/t%201/jobs/api/me`)).json()).toMatchObject({ name: 'ada' })
    expect(seen).toEqual([['/tenants/t%201/jobs/api/me', 'ada']])
    expect(await (await fetch(`${url}/own`)).text()).toBe('the host')
  })
})

describe('inside fastify', () => {
  test('parsers of the host go on parsing', async () => {
    const url = await inFastify('/jobs')

    expect(await post(`${url}/own`, { a: 1 })).toEqual({ status: 200, body: { a: 1 } })
  })
})

describe('inside next', () => {
  test('a base path that is no path is refused', () => {
    for (const basePath of ['jobs', '/a//b', '/a?b', '/a b']) {
      expect(() => nextHandlers(bench.open({ jobs: [mail] }), { basePath, auth: namedByHeader })).toThrow(/basePath/)
    }
  })
})

describe('the stand-alone server', () => {
  const started: Serving[] = []
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.close()))
  })

  test.each(['0.0.0.0', '::', '192.0.2.1', 'jobs.example.com'])(
    'refuses %s without tokens or a hook',
    async (hostname) => {
      await expect(serve(bench.open({ jobs: [mail] }), { hostname, port: 0 })).rejects.toMatchObject({
        code: 'AUTH_REQUIRED',
      })
    },
  )

  test('is open to this machine by its own names only', async () => {
    started.push(await serve(bench.open({ jobs: [mail] }), { port: 0 }))
    const [{ url, port }] = started as [Serving]

    expect(await (await fetch(`${url}/api/me`)).json()).toMatchObject({ name: expect.stringMatching(/^local\//) })
    expect((await fetch(`http://localhost:${port}/api/me`)).status).toBe(200)
    expect(await statusWithHost(port, 'rebound.example.com')).toBe(401)
    expect(await statusWithHost(port, 'localhost.example.com')).toBe(401)
  })

  test('takes tokens of which it knows the hash, anywhere', async () => {
    const sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' // of "test"
    const tokens = [{ name: 'ci', permissions: ['view' as const], sha256 }]
    started.push(await serve(bench.open({ jobs: [mail] }), { hostname: '0.0.0.0', port: 0, tokens }))
    const [{ port }] = started as [Serving]
    const me = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/api/me`, { headers })

    expect(await (await me({ authorization: 'Bearer test' })).json()).toMatchObject({ name: 'ci' })
    expect((await me({ authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await me({})).status).toBe(401)
  })

  test('says when its port is taken', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    started.push(await serve(holdfast, { port: 0 }))

    await expect(serve(holdfast, { port: started[0]?.port ?? 0 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  test('bodies whose length is not said, or that are not there, are read and bounded as others are', async () => {
    started.push(await serve(bench.open({ jobs: [mail] }), { port: 0, limits: { bodyBytes: 1000 } }))
    const url = `${started.at(-1)?.url}/api/jobs`
    const send = async (method: string, chunk?: string) => {
      const body = chunk && { body: new Blob([chunk]).stream(), duplex: 'half' as const }
      const response = await fetch(url, { method, headers: { 'content-type': 'application/json' }, ...body })
      return response.status
    }

    expect(await send('DELETE')).toBe(405)
    expect(await send('POST', JSON.stringify({ type: 'mail', input: {} }))).toBe(201)
    expect(await send('POST', JSON.stringify({ type: 'mail', input: 'x'.repeat(2000) }))).toBe(413)
  })

  test('lies below a base path, or behind a proxy that takes it off', async () => {
    started.push(await serve(bench.open({ jobs: [mail] }), { port: 0, basePath: '/admin/jobs/' }))
    const { url } = started[0] as Serving

    expect((await fetch(`${url}/admin/jobs/api/me`)).status).toBe(200)
    expect((await fetch(`${url}/api/me`)).status).toBe(404)
    const api = createHttpApi(bench.open({ jobs: [mail] }), { auth: namedByHeader })
    const stripped = await api.fetch(new Request('http://inner/api/me', { headers: headersOf() }))
    expect(stripped.status).toBe(200)
  })
})

function statusWithHost(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, path: '/api/me', headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
}

/** Node's server in front of a function from Request to Response, as frameworks have their own. */
function nodeBridge(answer: (request: Request) => Response | Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const response = await answer(
      new Request(`http://${incoming.headers.host}${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers: incoming.headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    )
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    const reader = response.body?.getReader()
    outgoing.on('close', () => void reader?.cancel())
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) break
      outgoing.write(value)
    }
    outgoing.end()
  }
}
