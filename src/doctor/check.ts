// What every check is: a name, where it makes sense, and a question.

import type { Database } from '../store/connection.js'
import type { Store } from '../store/open.js'
import type { Told } from './finding.js'
import type { Limits } from './limits.js'

/** What a check may look at. */
export interface Patient {
  readonly database: Database
  readonly store: Store
  readonly limits: Limits
}

export interface Check {
  readonly name: string
  /** It makes sense only where this holds. */
  readonly needs?: 'server' | 'schema'
  /** One thing told at least, also when all is well. */
  examine(patient: Patient): Promise<readonly Told[]>
}
