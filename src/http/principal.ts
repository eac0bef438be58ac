// The principal of a request, its permissions, and the queues it sees.

import { HoldfastError } from '../domain/error/errors.js'
import { checkQueueName } from '../domain/job/job.js'
import { FILTER_LIMITS } from '../domain/job/job-filter.js'

/**
 * `view` lists and shows; `view_input` adds inputs and outputs; `pause` pauses and resumes queues; `schedule` changes
 * schedules; the others are the operations of their names, one by one or in bulk.
 */
export const PERMISSIONS = ['view', 'view_input', 'enqueue', 'retry', 'cancel', 'recover', 'pause', 'schedule'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** What an auth hook answers for a request that it accepts. */
export interface Principal {
  /** The actor in the audit. */
  readonly name: string
  readonly permissions: readonly Permission[]
  /** The only queues whose jobs exist for this principal; all when absent. */
  readonly queues?: readonly string[] | undefined
}

/** A principal whose answer was checked, with the two questions that routes ask. */
export class Caller {
  readonly name: string
  readonly queues: readonly string[] | undefined
  readonly #permissions: ReadonlySet<Permission>
  readonly #queues: ReadonlySet<string> | undefined

  constructor(principal: Principal) {
    this.name = principal.name
    this.queues = principal.queues && [...new Set(principal.queues)].sort()
    this.#permissions = new Set(principal.permissions)
    this.#queues = this.queues && new Set(this.queues)
  }

  may(permission: Permission): boolean {
    return this.#permissions.has(permission)
  }

  sees(queue: string): boolean {
    return this.#queues === undefined || this.#queues.has(queue)
  }

  /** Throws FORBIDDEN unless every permission is there. */
  require(...permissions: readonly Permission[]): void {
    const missing = permissions.find((permission) => !this.may(permission))
    if (missing === undefined) return
    throw new HoldfastError('FORBIDDEN', `this needs the permission ${missing}`, { details: { permission: missing } })
  }

  /** Throws FORBIDDEN for what cannot be cut down to some queues. */
  requireAllQueues(what: string): void {
    if (this.queues === undefined) return
    throw new HoldfastError('FORBIDDEN', `${what} is not limited to queues and needs a principal that sees all of them`)
  }
}

const NAME_CHARACTERS = 200

/** An invalid answer is a fault of the auth hook, not of the request: it is refused with 500. */
export function checkPrincipal(answer: unknown): Caller {
  const { name, permissions, queues } = answer as Principal
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARACTERS || /\p{Cc}|\p{Surrogate}/u.test(name)) {
    throw new TypeError(`auth must answer with a name of 1 to ${NAME_CHARACTERS} characters`)
  }
  const isKnown = Array.isArray(permissions) && permissions.every((one) => PERMISSIONS.includes(one))
  if (!isKnown) throw new TypeError(`auth must answer with permissions out of ${PERMISSIONS.join(', ')}`)
  if (queues !== undefined) {
    if (!Array.isArray(queues) || queues.length > FILTER_LIMITS.values) {
      throw new TypeError(`auth must answer without queues, or with a list of at most ${FILTER_LIMITS.values}`)
    }
    for (const queue of queues) checkQueueName(queue)
  }
  return new Caller({ name, permissions, queues })
}
