// What an outsider, or somebody who may not, is told: one status, one code, one shape.
import { describe, expect, test } from 'vitest'
import { createHttpApi } from '../../src/http/api.js'
import type { HttpOptions } from '../../src/http/options.js'
import { defineJob } from '../../src/index.js'
import { givenIn } from '../support/given.js'
import { useHoldfast } from '../support/holdfast.js'
import { HOST, headersOf, useDesk } from '../support/http.js'

const greet = defineJob({ type: 'greet' })

describe('a refusal', () => {
  const bench = useHoldfast()
  const openDesk = useDesk()
  const desk = (options: Partial<HttpOptions> = {}) => openDesk(bench.open({ jobs: [greet] }), options)

  test('401: nobody is let in anywhere, not even to learn which addresses there are', async () => {
    const { asNobody } = desk()

    for (const what of ['GET /api/jobs', 'GET /openapi.json', 'POST /api/jobs', 'GET /nowhere', 'DELETE /api/jobs']) {
      const { status, body, headers } = await asNobody(what)
      expect([what, status, body.code]).toEqual([what, 401, 'UNAUTHENTICATED'])
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('403: a permission that is missing is named', async () => {
    const { status, body } = await desk().as({ permissions: ['view'] })('POST /api/jobs', { type: 'greet', input: {} })

    expect([status, body.code, body.details]).toEqual([403, 'FORBIDDEN', { permission: 'enqueue' }])
  })

  test('403: a page of another site changes nothing', async () => {
    const ask = desk().as()
    const job = { type: 'greet', input: {} }

    const answers = [
      await ask('POST /api/jobs', job, { 'sec-fetch-site': 'cross-site' }),
      await ask('POST /api/jobs', job, { origin: 'https://evil.test' }),
      await ask('GET /api/me', undefined, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
    ]

    for (const { status, body } of answers) expect([status, body.code]).toEqual([403, 'CROSS_SITE'])
    expect(await bench.look('select from holdfast.job')).toHaveLength(0)
  })

  test('404: an address without anything, and a job without existence', async () => {
    const ask = desk().as()

    expect((await ask('GET /api/nothing')).body.code).toBe('NOT_FOUND')
    expect((await ask('GET /')).body.code).toBe('NOT_FOUND')
    expect((await ask('GET /api/jobs/999')).body).toMatchObject({ status: 404, code: 'JOB_NOT_FOUND' })
    expect((await ask('POST /api/jobs/999/retry', {})).body).toMatchObject({ status: 404, code: 'JOB_NOT_FOUND' })
    expect((await ask('GET /api/schedules/none')).body).toMatchObject({ status: 404, code: 'JOB_UNKNOWN' })
  })

  test('405: a method that an address does not know, with those that it does', async () => {
    const { status, body, headers } = await desk().as()('PUT /api/jobs', {})

    expect([status, body.code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST'])
  })

  test('409: a job that is not stale is not taken from its holder', async () => {
    const ask = desk().as()
    const { job_id } = await givenIn(bench.database.pool).runningJob({ type: 'greet' })

    const { status, body } = await ask(`POST /api/jobs/${job_id}/recover`, {})

    expect([status, body.code, body.details.job_id]).toEqual([409, 'NOT_STALE', Number(job_id)])
    expect((await ask(`POST /api/jobs/${job_id}/retry`, {})).body.code).toBe('WRONG_STATE')
  })

  test('413: a body beyond the limit, whether or not its length is said', async () => {
    const { as, api } = desk({ limits: { bodyBytes: 1000 } })
    const large = JSON.stringify({ type: 'greet', input: { text: 'x'.repeat(2000) } })

    expect((await as()('POST /api/jobs', large, { 'content-length': String(large.length) })).body).toMatchObject({
      status: 413,
      code: 'BODY_TOO_LARGE',
      details: { limit: 1000 },
    })
    const unsaid = new Request(`${HOST}/api/jobs`, {
      method: 'POST',
      headers: { ...headersOf(), 'content-type': 'application/json' },
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect((await api.fetch(unsaid)).status).toBe(413)
    expect(await bench.look('select from holdfast.job')).toHaveLength(0)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonp', ''])(
    '415: a body called %j',
    async (type) => {
      const ask = desk().as()

      const { status, body } = await ask('POST /api/jobs', '{"type":"greet","input":{}}', { 'content-type': type })

      expect([status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    },
  )

  test('422: what does not fit the contract, with the place', async () => {
    const ask = desk().as()

    const wrong = await ask('POST /api/jobs', { type: 'greet', input: {}, priority: 'high' })
    expect([wrong.status, wrong.body.code]).toEqual([422, 'INVALID_REQUEST'])
    expect(wrong.body.details).toMatchObject({ in: 'json', issues: [{ path: 'priority' }] })
    for (const [what, body] of [
      ['POST /api/jobs', { type: 'greet', input: {}, suprise: 1 }],
      ['POST /api/jobs', '{"type":'],
      ['GET /api/jobs?limit=0'],
      ['GET /api/jobs?limit=many'],
      ['GET /api/jobs/seven'],
      ['GET /api/events'],
      ['GET /api/events?topic=weather'],
    ] as const) {
      expect((await ask(what, body)).body, what).toMatchObject({ status: 422, code: 'INVALID_REQUEST' })
    }
    const unknown = await ask('POST /api/jobs', { type: 'nobody_defines_this', input: {} })
    expect(unknown.body).toMatchObject({ status: 422, code: 'UNKNOWN_TYPE' })
  })

  test('429: too many requests of one, with the time to wait; others go on', async () => {
    const { as } = desk({ limits: { requests: { perSecond: 0.1, burst: 2 } } })
    const busy = as({ name: 'busy' })
    await busy('GET /api/me')
    await busy('GET /api/me')

    const { status, body, headers } = await busy('GET /api/me')

    expect([status, body.code]).toEqual([429, 'RATE_LIMITED'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(1)
    expect((await as({ name: 'calm' })('GET /api/me')).status).toBe(200)
  })

  test('429: an address that keeps knocking without a name', async () => {
    const { asNobody, as } = desk({ limits: { refusals: { perSecond: 0.1, burst: 2 } } })
    await asNobody('GET /api/me')
    await asNobody('GET /api/me')

    expect((await asNobody('GET /api/me')).body.code).toBe('RATE_LIMITED')
    expect((await as()('GET /api/me')).status).toBe(200)
  })

  test('500: what fails inside is logged and not told', async () => {
    const logged: object[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: object) => logged.push(fields) }
    const auth = () => {
      throw new Error('password of the directory is hunter2')
    }
    const ask = desk({ auth, logger }).as()

    const { status, body } = await ask('GET /api/me')

    expect([status, body.code]).toEqual([500, 'UNEXPECTED'])
    expect(JSON.stringify(body)).not.toContain('hunter2')
    expect(logged).toHaveLength(1)
  })

  test.each([
    ['a name that is missing', { permissions: [] }],
    ['a permission that does not exist', { name: 'a', permissions: ['everything'] }],
    ['queues that are no list', { name: 'a', permissions: [], queues: 'mail' }],
    ['a name with a line break', { name: 'a\nb', permissions: [] }],
    ['true', true],
  ])('500: a hook that answers with %s lets nobody in', async (_case, answer) => {
    const ask = desk({ auth: () => answer as never }).as()

    expect((await ask('GET /api/me')).body.code).toBe('UNEXPECTED')
  })
})

describe('a mount', () => {
  const bench = useHoldfast()

  test('without an auth hook is refused when it is made', () => {
    const holdfast = bench.open({ jobs: [greet] })

    for (const options of [{}, { auth: undefined }, { auth: 'nobody' }]) {
      expect(() => createHttpApi(holdfast, options as never)).toThrow(
        expect.objectContaining({ code: 'AUTH_REQUIRED' }),
      )
    }
  })

  test.each([
    { limits: { bodyBytes: 0 } },
    { limits: { streams: 'many' } },
    { limits: { requests: { perSecond: 1 } } },
    { limits: { requests: 5 } },
    { limits: { speed: 1 } },
    { origins: ['ops.test'] },
    { basePath: 'jobs' },
    { redact: { pay: 'card' } },
  ])('with %j is refused when it is made', (options) => {
    expect(() => createHttpApi(bench.open({ jobs: [greet] }), { auth: () => null, ...options } as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })

  test('sends on what its hook answers, with the headers that keep a browser safe', async () => {
    const api = createHttpApi(bench.open({ jobs: [greet] }), {
      auth: () => Response.redirect('https://login.test/', 302),
    })

    const response = await api.fetch(new Request(`${HOST}/api/jobs`))

    expect([response.status, response.headers.get('location')]).toEqual([302, 'https://login.test/'])
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
  })

  test.each(['/api/me', '/api/nothing'])('answers %s with headers that allow no inline script', async (path) => {
    const api = createHttpApi(bench.open({ jobs: [greet] }), { auth: () => ({ name: 'a', permissions: [] }) })

    const { headers } = await api.fetch(new Request(`${HOST}${path}`))

    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/script-src 'self'(;|$)/)
    expect(policy).not.toMatch(/unsafe/)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers.has('access-control-allow-origin')).toBe(false)
  })
})
