// Lets a request in or not: same site, known, and not too often. Closed unless the auth hook says otherwise.

import { HoldfastError } from '../domain/error/errors.js'
import type { CheckedOptions } from './options.js'
import type { Mount } from './parts.js'
import { type Caller, checkPrincipal } from './principal.js'
import { rateLimited } from './problem.js'
import { RateLimit } from './rate-limit.js'
import { checkSameSite } from './same-site.js'

/** The caller, or what the hook itself answers instead. Throws the refusal. */
export type Admission = (request: Request, mount: Mount) => Promise<Caller | Response>

export function admission({ auth, origins, limits }: CheckedOptions): Admission {
  const ofPrincipals = new RateLimit(limits.requests)
  const ofNobody = new RateLimit(limits.refusals)
  return async (request, mount) => {
    checkSameSite(request, origins)
    const answer = await auth(request, mount.native)
    if (answer instanceof Response) return answer
    if (answer === null || answer === undefined) {
      throwIfTooOften(ofNobody, mount.address ?? '')
      throw new HoldfastError('UNAUTHENTICATED')
    }
    const caller = checkPrincipal(answer)
    throwIfTooOften(ofPrincipals, caller.name)
    return caller
  }
}

function throwIfTooOften(limit: RateLimit, name: string): void {
  const wait = limit.take(name, performance.now())
  if (wait > 0) throw rateLimited('too many requests', wait)
}
