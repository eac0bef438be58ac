// The HTTP API in memory, called as any principal. Every answer is checked against the contract.
import { afterEach, expect } from 'vitest'
import type { z } from 'zod'
import type { Client } from '../../src/client/client.js'
import { createHttpApi, type HttpApi } from '../../src/http/api.js'
import { problemSchema } from '../../src/http/contract/problem.js'
import { checkOptions, type HttpOptions } from '../../src/http/options.js'
import { PERMISSIONS, type Principal } from '../../src/http/principal.js'
import { allRoutes } from '../../src/http/routes/all-routes.js'
import { Hub } from '../../src/http/stream/hub.js'

// biome-ignore lint/suspicious/noExplicitAny: what a body holds is what the contract says
type Body = any

export interface Answer {
  readonly status: number
  readonly body: Body
  readonly headers: Headers
}

/** As `GET /api/jobs` or `POST /api/jobs` with a body. */
export type Ask = (what: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

export interface Desk {
  readonly api: HttpApi
  /** Asks as this principal; by default one that may do everything. */
  as(principal?: Partial<Principal>): Ask
  /** Asks as nobody. */
  readonly asNobody: Ask
  /** A live stream of a principal that may do everything. */
  stream(query: string, headers?: Record<string, string>): Promise<Response>
}

const HEADER = 'x-principal'
export const HOST = 'http://jobs.test'

/** The principal whom a test names in a header. */
export function namedByHeader(request: Request): Principal | undefined {
  const named = request.headers.get(HEADER)
  return named === null ? undefined : JSON.parse(decodeURIComponent(named))
}

export function headersOf(principal: Partial<Principal> = {}): Record<string, string> {
  const whole: Principal = { name: 'operator', permissions: PERMISSIONS, ...principal }
  return { [HEADER]: encodeURIComponent(JSON.stringify(whole)) }
}

export function useDesk(): (client: Client, options?: Partial<HttpOptions>) => Desk {
  const apis: HttpApi[] = []
  afterEach(async () => {
    await Promise.all(apis.splice(0).map((api) => api.close()))
  })
  return (client, options = {}) => {
    const api = createHttpApi(client, { auth: namedByHeader, ...options })
    apis.push(api)
    const check = contractCheck(client)
    const asker =
      (common: Record<string, string>): Ask =>
      async (what, body, headers = {}) => {
        const [method = '', path = ''] = what.split(/ (.*)/s)
        const answer = await answered(await api.fetch(requestFor(method, path, body, { ...common, ...headers })))
        check(method, path, answer)
        return answer
      }
    return {
      api,
      as: (principal) => asker(headersOf(principal)),
      asNobody: asker({}),
      stream: (query, headers = {}) =>
        api.fetch(new Request(`${HOST}/api/events?${query}`, { headers: { ...headersOf(), ...headers } })),
    }
  }
}

function requestFor(method: string, path: string, body: unknown, headers: Record<string, string>): Request {
  const isReading = method === 'GET' || method === 'HEAD'
  return new Request(`${HOST}${path}`, {
    method,
    headers: isReading ? headers : { 'content-type': 'application/json', ...headers },
    ...(!isReading && body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

async function answered(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

interface Contract {
  readonly method: string
  readonly path: RegExp
  readonly responses: Record<string, { content?: Record<string, { schema: z.ZodType }> }>
}

// The same for every client, and dear to make.
let contracts: readonly Contract[] | undefined

function contractsOf(client: Client): Contract[] {
  const options = checkOptions({ auth: namedByHeader }, {})
  const hub = new Hub(client, options.limits, options.log)
  return allRoutes({ client, options, hub })
    .flatMap((app) => app.openAPIRegistry.definitions)
    .flatMap((definition) => (definition.type === 'route' ? [definition.route] : []))
    .map(
      ({ method, path, responses }): Contract => ({
        method: method.toUpperCase(),
        path: new RegExp(`^/api${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        responses: responses as Contract['responses'],
      }),
    )
}

/** An answer has a status that its route names and nothing in its body that the contract does not describe. */
function contractCheck(client: Client): (method: string, path: string, answer: Answer) => void {
  contracts ??= contractsOf(client)
  const known = contracts
  return (method, path, { status, body, headers }) => {
    if (status >= 400) {
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(problemSchema.parse(body)).toEqual(body)
      expect(body.status).toBe(status)
    }
    const pathname = path.split('?')[0] as string
    const contract = known.find((one) => one.method === method && one.path.test(pathname))
    if (!contract || status >= 500) return
    const described = contract.responses[status]
    expect(described, `${method} ${pathname} answers ${status}, which its contract does not name`).toBeDefined()
    const schema = described?.content?.['application/json']?.schema
    if (schema) expect(schema.parse(body)).toEqual(body)
  }
}
