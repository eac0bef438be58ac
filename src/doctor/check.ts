// What every check is: a name, where it makes sense, and a question.

import type { Database } from '../store/connection/connection.js'
import type { Store } from '../store/store.js'
import type { Told } from './finding.js'
import type { Limits } from './thresholds.js'

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
