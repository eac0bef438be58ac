// An auth hook for programs and for the stand-alone server: a bearer token, of which only the SHA-256 is kept.

import { createHash, timingSafeEqual } from 'node:crypto'
import { invalidOption } from '../domain/error/invalid-option.js'
import { checkPrincipal, type Principal } from './principal.js'

export interface BearerToken extends Principal {
  /** SHA-256 of the token, in hexadecimal digits. The token itself: at least 16 random bytes, kept by its user only. */
  readonly sha256: string
}

/** Answers the principal of the token in `Authorization: Bearer …`. Tokens in addresses are ignored, because logs keep addresses. */
export function bearerTokens(tokens: readonly BearerToken[]): (request: Request) => Principal | undefined {
  const known = tokens.map(({ sha256, ...principal }) => {
    if (!/^[0-9a-f]{64}$/i.test(sha256)) throw invalidOption('sha256', '64 hexadecimal digits', sha256)
    checkPrincipal(principal)
    return { digest: Buffer.from(sha256, 'hex'), principal }
  })
  return (request) => {
    const [, token] = /^Bearer ([\w.~+/-]{1,512}=*)$/i.exec(request.headers.get('authorization') ?? '') ?? []
    const digest = createHash('sha256')
      .update(token ?? '')
      .digest()
    // Every known digest is compared, whichever fits: the time taken says nothing.
    const fitting = known.filter((one) => timingSafeEqual(one.digest, digest))
    return token === undefined ? undefined : fitting[0]?.principal
  }
}
