// The options of a mount of the HTTP API, checked once.

import { HoldfastError } from '../domain/error/errors.js'
import { invalidOption } from '../domain/error/invalid-option.js'
import type { RedactedPath } from '../domain/job/redacted-path.js'
import type { Logger } from '../domain/run/context.js'
import { guarded, SILENT } from '../observe/log.js'
import type { Principal } from './principal.js'
import type { Rate } from './rate-limit.js'
import { Redaction } from './redaction.js'

export interface Limits {
  /** Of a request; default 1 MiB. */
  readonly bodyBytes: number
  /** Of each principal; default 50 a second, 200 at once. */
  readonly requests: Rate
  /** Requests without a principal, of each address; default 1 a second, 20 at once. */
  readonly refusals: Rate
  /** Live streams in all; default 1,000. */
  readonly streams: number
  /** Live streams of one principal; default 100. */
  readonly streamsOfOne: number
  /** A reader that takes nothing for so long while something waits for it is dropped; default 15 s. */
  readonly slowReaderMs: number
  /** A stream ends after this, so that its reader comes back and is asked again who it is; default 15 minutes. */
  readonly streamMs: number
}

const LIMITS: Limits = {
  bodyBytes: 1_048_576,
  requests: { perSecond: 50, burst: 200 },
  refusals: { perSecond: 1, burst: 20 },
  streams: 1000,
  streamsOfOne: 100,
  slowReaderMs: 15_000,
  streamMs: 900_000,
}

/** Nobody: `undefined` or `null`, answered with 401. A `Response` is sent as it is, for a login page of your own. */
export type AuthAnswer = Principal | Response | null | undefined

/** `native` is the host's own request, where there is one: Express's or Fastify's, with what your middleware put on it. */
export type Auth<Native = unknown> = (request: Request, native: Native) => AuthAnswer | Promise<AuthAnswer>

export interface HttpOptions<Native = unknown> {
  readonly auth: Auth<Native>
  /** Where the API is mounted, as `/admin/jobs`. Some adapters find out by themselves. */
  readonly basePath?: string
  /** Further origins whose pages may change things, as `https://ops.example.com`, for browsers that send only `Origin`. */
  readonly origins?: readonly string[]
  /** Paths into inputs and outputs that are never shown, by type of job; under `*` for every type. */
  readonly redact?: Readonly<Record<string, readonly RedactedPath[]>>
  readonly limits?: Partial<Limits>
  /** Logs what ends with 500; silent by default. */
  readonly logger?: Logger
}

export interface CheckedOptions {
  readonly auth: Auth
  readonly basePath: string
  readonly origins: ReadonlySet<string>
  readonly redaction: Redaction
  readonly limits: Limits
  readonly log: Logger
}

/** `ofDefinitions` are the paths that the definitions of jobs redact; options only add to them. */
export function checkOptions<Native>(
  options: HttpOptions<Native>,
  ofDefinitions: Readonly<Record<string, readonly RedactedPath[]>>,
): CheckedOptions {
  if (typeof options?.auth !== 'function') throw new HoldfastError('AUTH_REQUIRED')
  return Object.freeze({
    auth: options.auth as Auth,
    basePath: checkBasePath(options.basePath ?? ''),
    origins: new Set(options.origins?.map(checkOrigin)),
    redaction: new Redaction(ofDefinitions, options.redact ?? {}),
    limits: checkLimits(options.limits ?? {}),
    log: options.logger ? guarded(options.logger) : SILENT,
  })
}

function checkLimits(given: Partial<Limits>): Limits {
  for (const [name, limit] of Object.entries(given)) {
    if (!Object.hasOwn(LIMITS, name)) throw invalidOption('limits', `out of ${Object.keys(LIMITS).join(', ')}`, name)
    const isRate = typeof LIMITS[name as keyof Limits] === 'object'
    const numbers = isRate ? [(limit as Rate)?.perSecond, (limit as Rate)?.burst] : [limit]
    if (numbers.every((one) => typeof one === 'number' && one > 0)) continue
    throw invalidOption(`limits.${name}`, isRate ? '{ perSecond, burst } greater than 0' : 'greater than 0', limit)
  }
  return { ...LIMITS, ...given }
}

/** Without a slash at its end; the root is the empty text. */
export function checkBasePath(path: string): string {
  const trimmed = path.replace(/\/+$/, '')
  if (trimmed !== '' && !/^(\/[^/?#\s]+)+$/.test(trimmed)) {
    throw invalidOption('basePath', 'a path like /admin/jobs', path)
  }
  return trimmed
}

function checkOrigin(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  if (url === undefined || url.origin !== origin) {
    throw invalidOption('origins', 'a list of origins like https://ops.example.com', origin)
  }
  return origin
}
