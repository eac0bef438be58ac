// The seam for a caller's own transaction: whatever library it comes from, the store sees a Queryable.

import { HoldfastError } from '../domain/errors.js'
import type { Queryable } from './connection.js'

export function asQueryable(tx: unknown): Queryable {
  if (typeof (tx as Queryable | null)?.query === 'function') return tx as Queryable
  throw new HoldfastError('INVALID_OPTION', 'tx must be the client or transaction that your own writes use', {
    details: { received: typeof tx },
  })
}
