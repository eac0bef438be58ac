// Pages of other sites must not act with the credentials of a browser that is logged in here.

import { HoldfastError } from '../domain/error/errors.js'

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isReading(method: string): boolean {
  return READING.has(method)
}

/**
 * Throws CROSS_SITE. Browsers say by `Sec-Fetch-Site` where a request comes from, and pages cannot forge it; those that do
 * not are judged by `Origin`. Programs send neither, and have no credentials that a page could borrow.
 */
export function checkSameSite(request: Request, origins: ReadonlySet<string>): void {
  const { headers, method } = request
  const origin = headers.get('origin')
  if (origin !== null && origins.has(origin)) return
  const site = headers.get('sec-fetch-site')
  if (site !== null) {
    // A link from another site may open a page here; it may not fetch, stream or change anything.
    const isVisit = isReading(method) && headers.get('sec-fetch-mode') === 'navigate'
    if (site === 'same-origin' || site === 'none' || isVisit) return
    throw new HoldfastError('CROSS_SITE', undefined, { details: { site } })
  }
  if (origin === null || isReading(method)) return
  if (URL.canParse(origin) && new URL(origin).host === hostOf(request)) return
  throw new HoldfastError('CROSS_SITE', undefined, { details: { origin } })
}

/** Of the header where there is one: a proxy that ends TLS leaves the name alone and changes the scheme. */
function hostOf(request: Request): string {
  return request.headers.get('host') ?? new URL(request.url).host
}
